import EventRecordings
import KeyboardModes
import KeymodeInterface
import KeymodedConfiguration
import SystemCalls

/// `keymodectl replay FILE`: what the daemon would have published, had it followed the device.
func replay(_ operands: [String], configuration path: String?, asJSON: Bool) throws -> Int32 {
  guard operands.count == 1 else { throw UsageError("replay takes one file") }
  let configuration = try path.map { try Configuration.load($0) } ?? Configuration()
  var recording = try Recording(opening: operands[0]) { complain("\($0)") }
  var controller = Controller(settings: configuration.settings)
  var output = Output.standard()
  // The changes before a line that is wrong are right, and shown.
  defer { output.flush() }
  let device = DeviceID(order: 0)
  var clock: ChangeLine.Clock?
  while let event = try recording.next() {
    let shown = clock ?? ChangeLine.Clock(startingWith: event.time)
    clock = shown
    controller.take(.key(device, event)) { change in
      output.line(asJSON ? change.json.text : ChangeLine.text(of: change, clock: shown))
    }
  }
  return 0
}
