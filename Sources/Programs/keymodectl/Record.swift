import Configuration
import Glibc
import Recordings
import System
import Terminal
import Wire

/// `keymodectl record [DEVICE…]`: records keyboards until it is interrupted.
func record(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  let request = try request(operands, arguments)
  // A core dump would contain typed keys that the recording redacts.
  forbidMemoryDumps()
  return try explainingPermission("record") {
    try Recorder(request, on: .ofThisProgram()) { printToStandardError($0) }.run()
      ? ExitStatus.done : ExitStatus.failed
  }
}

private func request(_ operands: [String], _ arguments: Arguments) throws -> RecordingRequest {
  for operand in operands where !operand.contains("/") && access(operand, F_OK) != 0 {
    throw UsageError(
      "'\(operand)' is no device such as /dev/input/event3; '--output \(operand)' is for the recording"
    )
  }
  // Redaction keeps the key codes that this machine's configuration binds.
  let configuration = try configuration(arguments, isOfMachine: true)
  let settings = configuration.settings
  var request = RecordingRequest(
    operands.isEmpty
      ? .all(configuration.devices, pointers: settings.pointers) : .named(operands))
  request.output = arguments["--output"]
  request.showsKeyCodes = arguments.has("--show-keycodes")
  request.settings = settings
  request.remarks = [
    "keymodectl record \(keymodedVersion)",
    "Times are on CLOCK_BOOTTIME.",
    request.showsKeyCodes
      ? "Not redacted: this recording shows what was typed."
      : "Redacted: only modifiers and bound chords keep their key codes.",
  ]
  return request
}
