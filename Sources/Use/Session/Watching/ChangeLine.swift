public import KeyboardModes
import System
public import Terminal

/// Changes and states as lines for people, of at most 80 columns each if the names are short.
public enum ChangeLine {
  /// The line of a change, such as
  /// `     1.234567  shift     off → on                             shiftPressed`
  ///
  /// - Parameter time: the time to show; by default the time of the change.
  public static func text(of change: Change, at time: Time? = nil) -> TerminalText {
    // The width counts characters as they are shown.
    let step = printable("\(change.from) \(Sign.rightArrow) \(change.to)")
    let parts = [
      text(time ?? change.time), padded(change.machine.rawValue, 8), padded(step, 35),
      printable(change.event),
    ]
    return "\(parts.joined(separator: "  "))"
  }

  /// The line of states, such as
  /// `     1.234567  shift is off, keyboard is editingText`
  ///
  /// - Parameter machines: the machines whose states are in the line; by default all except the
  ///   locks that are not on.
  public static func text(
    of states: States, at time: Time, for machines: [MachineName]? = nil
  ) -> TerminalText {
    let parts = (machines ?? states.shownMachines(withLocks: .on)).compactMap { machine in
      states[machine].map { "\(machine) is \($0)" }
    }
    return "\(text(time))  \(parts.joined(separator: ", "))"
  }

  /// The number of missed changes, or `some` if it is unknown.
  public static func text(ofMissed count: Int64?) -> String { count.map { "\($0)" } ?? "some" }

  /// Seconds with six digits after the point, aligned at the right of 13 columns.
  private static func text(_ time: Time) -> String {
    let text = seconds(time.microseconds)
    return String(repeating: " ", count: max(0, 13 - text.utf8.count)) + text
  }
}
