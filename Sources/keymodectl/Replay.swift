import EventRecordings
import KeyboardModes
import KeymodeInterface
import KeymodedConfiguration
import SystemCalls

/// `keymodectl replay FILE`: what the daemon would have published, had it followed the device.
func replay(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  guard operands.count == 1 else { throw UsageError("replay takes one file") }
  let format = try arguments["--format"].map { name throws(UsageError) in
    guard let format = RecordingFormat(rawValue: name) else {
      let names = RecordingFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("unknown format '\(name)': it is one of \(names)")
    }
    return format
  }
  let asJSON = arguments.has("--json")
  let configuration =
    try arguments["--config"].map { try Configuration.load($0) } ?? Configuration()
  var recording = try Recording(opening: operands, format: format) { complain("\($0)") }
  var controller = Controller(settings: configuration.settings)
  var output = Output.standard()
  // The changes before a line that is wrong are right, and shown.
  defer { output.flush() }
  var clock: ChangeLine.Clock?
  while let next = try recording.next() {
    let shown = clock ?? ChangeLine.Clock(startingWith: next.time ?? Time(microseconds: 0))
    clock = shown
    controller.take(next.input) { change in
      output.line(asJSON ? change.json.text : ChangeLine.text(of: change, clock: shown))
    }
  }
  return 0
}
