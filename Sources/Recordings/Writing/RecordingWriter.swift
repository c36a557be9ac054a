import KeyboardModes
import Keyboards
import Terminal

/// Writes a recording as text, in a format that other programs read too.
public protocol RecordingWriter {
  /// The text of a report; each device needs a writer of its own.
  mutating func text(of report: Report) -> String
}

/// The comments that evemu and libinput write behind events.
struct EventComment {
  private var lastReport: Time?

  /// The names of `event`; for a `SYN_REPORT` the time since the one before.
  mutating func text(of event: InputEvent) -> String {
    guard event.type == InputEvent.synchronization else {
      let type = eventTypeName(event.type) ?? "?"
      let code = eventCodeName(event.type, event.code) ?? "?"
      return "\(type) / \(padded(code, 20)) \(event.value)"
    }
    let milliseconds = ((event.time.microseconds) - (lastReport ?? event.time).microseconds) / 1000
    lastReport = event.time
    return "------------ SYN_REPORT (0) ---------- \(milliseconds < 0 ? "" : "+")\(milliseconds)ms"
  }
}
