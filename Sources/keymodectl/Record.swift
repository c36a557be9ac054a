import EventRecordings
import Glibc
import KeyboardModes
import KeymodeInterface
import KeymodedConfiguration
import LinuxInput
import SystemCalls

/// What `keymodectl record` was asked for.
struct RecordingRequest {
  /// The devices, or all keyboards.
  var selection: Keyboards.Selection
  /// The file, or standard output.
  var output: String?
  /// The format; `nil` where the number of devices decides.
  var format: WrittenFormat?
  /// Whether what was typed stays in the recording.
  var showsKeyCodes: Bool
  /// What decides which keys are bound.
  var settings: Settings
}

/// The formats that recordings are written in.
enum WrittenFormat: String {
  /// One device.
  case evemu
  /// One device or several.
  case libinput
}

/// `keymodectl record [DEVICE…]`
func record(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  let format = try arguments["--format"].map { name throws(UsageError) in
    guard let format = WrittenFormat(rawValue: name) else {
      throw UsageError("unknown format '\(name)': recordings are written as evemu or libinput")
    }
    return format
  }
  let configuration =
    try arguments["--config"].map { try Configuration.load($0) } ?? Configuration()
  let request = RecordingRequest(
    selection: operands.isEmpty
      ? .all(boundKeys: configuration.settings.bindings.keys, configuration.devices)
      : .named(operands),
    output: arguments["--output"], format: format, showsKeyCodes: arguments.has("--show-keycodes"),
    settings: configuration.settings)
  // What is typed goes into the recording, and of that only what was asked for.
  forbidMemoryDumps()
  do {
    return try Recorder(request).run()
  } catch let error as SystemError where error.code == EACCES && error.operation == "open" {
    complain("\(error):\nkeyboards are read by root and members of the group 'input'")
    return Status.permissionDenied
  }
}
