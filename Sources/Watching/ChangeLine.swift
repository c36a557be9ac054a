import JSON
public import KeyboardModes
public import SystemCalls

/// Changes and states as lines for people, of at most 80 columns each if the names are short.
public enum ChangeLine {
  /// `     1.234567  shift     off → on                             shiftPressed`
  ///
  /// - Parameter time: the time to show; by default that of the change.
  public static func text(of change: Change, at time: Time? = nil) -> TerminalText {
    // The width counts characters as they are shown.
    let step = printable("\(change.from) → \(change.to)")
    let parts = [
      text(time ?? change.time), padded(change.machine.rawValue, 8), padded(step, 35),
      printable(change.event),
    ]
    return "\(parts.joined(separator: "  "))"
  }

  /// Appends ``text(of:at:)``. If all names are ASCII, as those of the shipped machines are, the
  /// columns that they take are known without a look at Unicode's tables.
  public static func write(_ change: Change, at time: Time, to bytes: inout [UInt8]) {
    let names = change.from.utf8.count + change.to.utf8.count + change.event.utf8.count
    let isWritten = withTextBuffer(holding: 160 + names) { text in
      write(time, to: &text)
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
    if !isWritten { bytes.append(contentsOf: text(of: change, at: time).description.utf8) }
  }

  /// `     1.234567  shift is off, keyboard is editingText`
  ///
  /// - Parameter machines: the machines whose states are in the line.
  public static func text(
    of modes: Modes, at time: Time, for machines: [Machine] = Machine.allCases
  ) -> TerminalText {
    let states: [String] = machines.map { "\($0.rawValue) is \(modes[$0])" }
    return "\(text(time))  \(states.joined(separator: ", "))"
  }

  /// The number of missed changes, or `some` if it is unknown.
  public static func text(ofMissed count: Int64?) -> String { count.map { "\($0)" } ?? "some" }

  /// Appends seconds with six digits after the point, to the right in 13 columns.
  private static func write(_ time: Time, to text: inout TextBuffer) {
    let microseconds = time.microseconds.magnitude
    let isNegative = time.microseconds < 0
    let seconds = Int64(microseconds / 1_000_000)
    let width = TextBuffer.width(of: seconds) + 7 + (isNegative ? 1 : 0)
    text.append(spaces: 13 - width)
    if isNegative { text.append("-") }
    text.append(seconds)
    text.append(".")
    text.append(Int64(microseconds % 1_000_000), digits: 6)
  }

  private static func text(_ time: Time) -> String {
    withTextBuffer(holding: 32) { text in
      write(time, to: &text)
      return String(decoding: text.written, as: UTF8.self)
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
