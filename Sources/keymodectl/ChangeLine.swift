import JSON
import KeyboardModes
import KeymodeInterface
import SystemCalls

/// Changes as people read them, a line of up to 80 columns each.
enum ChangeLine {
  /// What shown times count from.
  struct Clock {
    private let zero: Int64

    /// The clock that events carry.
    static let own = Clock(zero: 0)

    private init(zero: Int64) { self.zero = zero }

    /// Recordings of old carry seconds since 1970. Of such the whole seconds of the first event are
    /// left out, so that lines stay short and the digits after the point are those of the file.
    init(startingWith first: Time) {
      let second: Int64 = 1_000_000
      let isDate = first.microseconds > 100_000_000 * second
      zero = isDate ? first.microseconds / second * second : 0
    }

    /// The time as it is shown.
    func shown(_ time: Time) -> Time {
      let (difference, overflow) = time.microseconds.subtractingReportingOverflow(zero)
      return overflow ? time : Time(microseconds: difference)
    }

    /// The time that is shown so.
    func recorded(_ shown: Time) -> Time {
      let (sum, overflow) = shown.microseconds.addingReportingOverflow(zero)
      return overflow ? shown : Time(microseconds: sum)
    }

    /// Appends seconds with six digits.
    fileprivate func write(_ time: Time, to text: inout TextBuffer) {
      let microseconds = shown(time).microseconds.magnitude
      let isNegative = shown(time).microseconds < 0
      let seconds = Int64(microseconds / 1_000_000)
      let width = TextBuffer.width(of: seconds) + 7 + (isNegative ? 1 : 0)
      text.append(spaces: 13 - width)
      if isNegative { text.append("-") }
      text.append(seconds)
      text.append(".")
      text.append(Int64(microseconds % 1_000_000), digits: 6)
    }

    /// The same as a text.
    fileprivate func text(_ time: Time) -> String {
      withTextBuffer(holding: 32) { text in
        write(time, to: &text)
        return String(decoding: text.written, as: UTF8.self)
      }
    }
  }

  /// `     1.234567  shift     off → on                             shiftPressed`
  static func text(of change: Change, clock: Clock = .own) -> String {
    // Before it is measured.
    let step = printable("\(change.from) → \(change.to)")
    return [
      clock.text(change.time), right(change.machine.rawValue, 8), right(step, 35),
      printable(change.event),
    ]
    .joined(separator: "  ")
  }

  /// Appends ``text(of:clock:)``. Where all names are ASCII, as those of the shipped machines are,
  /// nobody has to find out what a terminal shows as one character.
  static func write(_ change: Change, _ clock: Clock, to bytes: inout [UInt8]) {
    let isWritten = withTextBuffer(
      holding: 160 + change.from.utf8.count + change.to.utf8.count + change.event.utf8.count
    ) { text in
      clock.write(change.time, to: &text)
      switch change.machine {
      case .shift: text.append("  shift     ")
      case .keyboard: text.append("  keyboard  ")
      }
      guard text.append(name: change.from) else { return false }
      text.append(" → ")
      guard text.append(name: change.to) else { return false }
      text.append(spaces: 32 - change.from.utf8.count - change.to.utf8.count)
      text.append("  ")
      guard text.append(name: change.event) else { return false }
      bytes.append(contentsOf: text.written)
      return true
    }
    if !isWritten { bytes.append(contentsOf: text(of: change, clock: clock).utf8) }
  }

  /// The line that a watch begins with.
  static func text(of state: StateMessage) -> String { text(of: state.modes, at: state.time) }

  /// `     1.234567  shift is off, keyboard is editingText`
  static func text(of modes: Modes, at time: Time, clock: Clock = .own) -> String {
    printable("\(clock.text(time))  shift is \(modes.shift), keyboard is \(modes.keyboard)")
  }

  private static func right(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
