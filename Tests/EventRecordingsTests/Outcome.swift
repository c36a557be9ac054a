import EventRecordings
import KeyboardModes
import TestSupport
import Testing

/// What reading a recording gave: its events, and how it ended.
struct Outcome {
  var events: [KeyEvent] = []
  var devices: [Int] = []
  var error: String?
  var warnings: [String] = []

  init(_ bytes: [UInt8], format: RecordingFormat? = nil) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("recording", bytes)
    do {
      var warned: [String] = []
      defer { warnings = warned.map { $0.replacing(file, with: "FILE") } }
      var recording = try Recording(opening: file, format: format) { warned.append("\($0)") }
      while let (device, event) = try recording.next() {
        events.append(event)
        devices.append(device.order)
      }
    } catch {
      self.error = "\(error)".replacing(file, with: "FILE")
    }
  }
}

func read(_ text: String, format: RecordingFormat? = nil) throws -> Outcome {
  try Outcome(Array(text.utf8), format: format)
}

func event(_ microseconds: Int64, _ number: Int, _ action: KeyEvent.Action) throws
  -> KeyEvent
{
  KeyEvent(
    time: Time(microseconds: microseconds), key: try #require(KeyCode(number)), action: action)
}
