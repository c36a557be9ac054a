public import KeyboardModes

/// The changes and presses of a replayed recording, to be drawn as one picture.
///
/// A timeline never holds more than a few thousand times, however long the recording is. If more
/// happens, it becomes coarser: states that changed faster than can be seen are drawn as "many
/// changes", and presses within one short slot of time are one tick. A span that is drawn as a
/// state was in that state only, and no state that lasted long enough to be seen is left out.
public struct Timeline: Sendable {
  /// The class of a press. A timeline never holds which key it was.
  public enum Press: Int, CaseIterable, Sendable {
    /// Either Shift key.
    case shift
    /// A key, or chord, that is bound to an event of the keyboard machine.
    case bound
    /// A key that types a character.
    case character
    /// Any other key.
    case other
  }

  /// The earliest and the latest time, in microseconds; `nil` before anything was added.
  private(set) var period: ClosedRange<Int64>?
  /// The time that the picture labels 0 s, in microseconds.
  private(set) var zero: Int64 = 0
  private(set) var shift: Lane
  private(set) var keyboard: Lane
  private(set) var presses = Press.allCases.map { _ in PressTimes() }

  /// An empty timeline.
  ///
  /// - Parameter table: the table of the keyboard machine, which has the names of its states.
  public init(keyboard table: KeyboardTable = .standard) {
    let shiftRules = ShiftRules()
    shift = Lane(states: shiftRules.states.map(\.name), initial: shiftRules.initial.name)
    keyboard = Lane(states: table.stateNames, initial: table.name(of: table.initial))
  }

  /// The maximum distance of a time from the clock's zero: 36 000 years, in microseconds. Times
  /// further away are clamped, so that no difference of two times overflows.
  static let furthest: Int64 = 1 << 60

  /// Makes the picture begin at `time`, unless something else is earlier.
  ///
  /// Call this first, with the time of the recording's first event, so that this event decides
  /// which time is labelled 0 s, even if it is not a press.
  public mutating func begin(at time: Time) { _ = cover(time) }

  /// Makes the picture begin at `time`, with the machines in these states.
  public mutating func begin(at time: Time, shift: String, keyboard: String) {
    self.shift.begin(in: shift)
    self.keyboard.begin(in: keyboard)
    begin(at: time)
  }

  /// Adds a press of a key. Autorepeats are not presses.
  public mutating func add(_ press: Press, at time: Time) {
    presses[press.rawValue].add(cover(time))
  }

  /// Adds a change. The changes of one machine must come in the order of their sequence, without a
  /// gap. If a change is earlier than the one before, it counts at the time of that one.
  public mutating func add(_ change: Change) {
    let time = cover(change.time)
    switch change.machine {
    case .shift: shift.add(from: change.from, to: change.to, at: time)
    case .keyboard: keyboard.add(from: change.from, to: change.to, at: time)
    }
  }

  /// Makes the picture end at `time`, the time of the recording's last event, unless something else
  /// is later.
  public mutating func end(at time: Time) { _ = cover(time) }

  /// Extends the period to `time`, and returns it in microseconds, clamped to ``furthest``.
  private mutating func cover(_ time: Time) -> Int64 {
    let microseconds = min(max(time.microseconds, -Self.furthest), Self.furthest)
    if let known = period {
      period = min(known.lowerBound, microseconds)...max(known.upperBound, microseconds)
    } else {
      period = microseconds...microseconds
      zero = DisplayClock(startingWith: Time(microseconds: microseconds)).zero
    }
    return microseconds
  }
}
