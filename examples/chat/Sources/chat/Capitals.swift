/// A character in a text.
///
/// It is a class because it can become a capital later, wherever it is by then.
final class Letter {
  private let typed: String
  /// When it was read, in microseconds on `CLOCK_BOOTTIME`.
  fileprivate let time: Int64
  fileprivate var isCapital = false

  /// A character that no key typed has no time.
  init(_ text: String, time: Int64 = .min) { (typed, self.time) = (text, time) }

  var text: String { isCapital ? typed.uppercased() : typed }
}

/// Decides which characters Shift makes capitals, by the times of characters and changes.
///
/// A key acts twice: the terminal sends its character, and keymoded reports that it ended a Shift for one
/// letter. Either can arrive first. The change has the time at which the key went down; the character
/// has none, but it was read after that. So a change belongs to the first character that was read at its
/// time or later. docs/one-shot-shift.md has the reasons.
struct Capitals {
  /// A character is read at most this long after its key went down, in microseconds. If no
  /// character follows a change for so long, its key was pressed for another program.
  static let longest: Int64 = 1_000_000

  /// The last press of Shift that was reported, and whether capitals are locked since then.
  private var lock = (time: Int64.min, isOn: false, wasOn: false)
  /// The last characters that no change belongs to yet.
  private var letters: ArraySlice<Letter> = []
  /// The times of the last changes that belong to no character yet.
  private var ends: ArraySlice<Int64> = []

  /// Begins anew with a state of Shift, when nothing is known of the changes before it.
  mutating func begin(_ shift: String) {
    self = Capitals()
    let isLocked = shift == "capsLock"
    lock = (.min, isLocked, isLocked)
  }

  /// Takes a character that was read at this time.
  mutating func typed(_ text: String, at time: Int64) -> Letter {
    let letter = Letter(text, time: time)
    letters = letters.drop { $0.time < time - Capitals.longest }
    ends = ends.drop { $0 < time - Capitals.longest }
    if let end = ends.first, end <= time {
      ends.removeFirst()
      letter.isCapital = true
    } else {
      letter.isCapital = time >= lock.time ? lock.isOn : lock.wasOn
      letters.append(letter)
    }
    return letter
  }

  /// Takes a change of Shift, which may make capitals of characters that were read before.
  mutating func changed(by event: String, to state: String, at time: Int64) {
    let later = letters.filter { $0.time >= time }
    if event != "characterTyped" {
      lock = (time, state == "capsLock", lock.isOn)
      for letter in later { letter.isCapital = lock.isOn }
    } else if let letter = later.first, time >= letter.time - Capitals.longest {
      letter.isCapital = true
      letters.removeAll { $0 === letter }
    } else {
      // More than can wait for their characters are the changes of other programs' characters.
      ends = (ends + [time]).suffix(8)
    }
  }
}
