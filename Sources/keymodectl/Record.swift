import CommandLineTools
import Glibc
import KeyRecording
import KeymodeInterface
import KeymodedConfiguration
import SystemCalls

/// `keymodectl record [DEVICE…]`: records keyboards until it is interrupted.
func record(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  let request = try request(operands, arguments)
  // The recording holds only what was asked for; a dump of memory could hold what was typed.
  forbidMemoryDumps()
  do {
    switch try Recorder(request, notify: { complain(request.text(of: $0)) }).run() {
    case .complete, .unread: return ExitStatus.done
    case .incomplete: return ExitStatus.no
    case .failed(let error):
      complain("\(error); what was written is kept")
      return ExitStatus.no
    }
  } catch let error as RecorderError where error != .noKeyboard {
    throw UsageError(error.text)
  } catch let error as SystemError where error.code == EACCES && error.operation == "open" {
    complain("\(error):\nkeyboards are read by root and members of the group 'input'")
    return ExitStatus.permissionDenied
  }
}

private func request(_ operands: [String], _ arguments: Arguments) throws -> RecordingRequest {
  let format = try arguments["--format"].map { name throws(UsageError) in
    guard let format = WrittenFormat(rawValue: name) else {
      throw UsageError("unknown format '\(name)': recordings are written as evemu or libinput")
    }
    return format
  }
  let configuration =
    try arguments["--config"].map { try Configuration.load($0) } ?? Configuration()
  let settings = configuration.settings
  let showsKeyCodes = arguments.has("--show-keycodes")
  return RecordingRequest(
    selection: operands.isEmpty
      ? .all(boundKeys: settings.bindings.keys, configuration.devices) : .named(operands),
    output: arguments["--output"], format: format, showsKeyCodes: showsKeyCodes,
    settings: settings,
    remarks: [
      "keymodectl record \(keymodedVersion)",
      "Times are those of CLOCK_BOOTTIME.",
      showsKeyCodes
        ? "Key codes are shown: what was typed can be read from this."
        : "Redacted: of keys that are neither modifiers nor bound only their kind is here.",
    ])
}

extension RecordingRequest {
  /// A notice of the recorder, in words.
  fileprivate func text(of notice: Recorder.Notice) -> TerminalText {
    switch notice {
    case .started(let count):
      let keyboards = count == 1 ? "1 keyboard" : "\(count) keyboards"
      let place: TerminalText = output.map { " to '\($0)'" } ?? ""
      return showsKeyCodes
        ? "recording \(keyboards)\(place); Ctrl+C ends it\n"
          + "not redacted: what is typed can be read from it, passwords too"
        : "recording \(keyboards)\(place), redacted; Ctrl+C ends it"
    case .unopened(let error): return error.text
    case .gone(let name): return "'\(name)' is gone; what was recorded of it is kept"
    case .failed(let error): return "\(error); what was recorded of it is kept"
    }
  }
}
