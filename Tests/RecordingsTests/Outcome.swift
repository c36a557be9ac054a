import Foundation
import KeyboardModes
import Recordings
import TestSupport
import Testing

/// What reading recordings returned and threw. The files are called `FILE`, `FILE1` and so on.
struct Outcome: Equatable {
  var inputs: [Controller.Input] = []
  var events: [KeyEvent] = []
  var devices: [Int] = []
  var error: String?
  var warnings: [String] = []
  var unused: [String] = []
  var skipped = (count: 0, first: RecordingError?.none)

  init(
    _ bytes: [UInt8], format: RecordingFormat? = nil, isLenient: Bool = false,
    throughPipe: Bool = false
  ) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("recording", bytes)
    guard throughPipe else {
      self.init(opening: [file], format, isLenient)
      return
    }
    let pipe = "\(folder.path)/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: "/bin/sh")
    writer.arguments = ["-c", "exec cat '\(file)' >'\(pipe)'"]
    try writer.run()
    self.init(opening: [pipe], format, isLenient)
    writer.waitUntilExit()
  }

  init(_ texts: [String]) throws {
    let folder = try TemporaryFolder()
    let files = try texts.enumerated().map { try folder.write("recording\($0)", $1) }
    self.init(opening: files, nil, false)
  }

  private init(opening files: [String], _ format: RecordingFormat?, _ isLenient: Bool) {
    func named(_ error: RecordingError) -> String {
      files.enumerated().reduce("\(error)") { text, file in
        text.replacing(file.element, with: file.offset == 0 ? "FILE" : "FILE\(file.offset)")
      }
    }
    do throws(RecordingError) {
      var warned: [String] = []
      defer { warnings = warned }
      var recording = try Recording(opening: files, format: format, isLenient: isLenient) {
        warned.append(named($0))
      }
      while let batch = try recording.next() {
        for next in batch.inputs {
          inputs.append(next)
          guard case .key(let device, let event) = next else { continue }
          events.append(event)
          devices.append(device.order)
        }
      }
      unused = recording.unusedFiles
      skipped = (recording.skipped.count, recording.skipped.first)
    } catch {
      self.error = named(error)
    }
  }

  static func == (lhs: Outcome, rhs: Outcome) -> Bool {
    lhs.inputs == rhs.inputs && lhs.error == rhs.error && lhs.warnings == rhs.warnings
  }
}

func read(
  _ text: String, format: RecordingFormat? = nil, isLenient: Bool = false
) throws -> Outcome {
  try Outcome(Array(text.utf8), format: format, isLenient: isLenient)
}

/// What is said of a file that is like no format.
let unknownFormat =
  "not a recording in a known format (evemu, libinput, evtest, getevent, raw)"

func event(
  _ microseconds: Int64, _ number: Int, _ action: KeyEvent.Action, continuesFrame: Bool = false
) throws -> KeyEvent {
  KeyEvent(
    time: Time(microseconds: microseconds), key: try #require(KeyCode(number)), action: action,
    continuesFrame: continuesFrame)
}
