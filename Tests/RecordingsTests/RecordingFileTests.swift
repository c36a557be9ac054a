import Foundation
import KeyboardModes
import Keyboards
import System
import Recordings
import Terminal
import TestSupport
import Testing

@testable import Recordings

@Suite("Recording: file")
struct RecordingFileTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = "\(folder.path)/recording"
  }

  private func device(_ name: String) -> DeviceDescription {
    DeviceDescription(name: name, node: "/dev/\(name)", bus: 3, vendor: 1, product: 2, version: 4)
  }

  private func press(_ device: Int, at time: Int64) throws -> Controller.Input {
    .key(DeviceID(order: device), try event(time, 30, .press))
  }

  private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("a new file can be read by its owner only")
  func mode() throws {
    _ = try RecordingFile(path, [device("a")], remarks: [])
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("an existing file is not overwritten")
  func existing() throws {
    _ = try folder.write("recording", "precious")
    #expect(throws: SystemError("create", path, code: EEXIST)) {
      _ = try RecordingFile(path, [device("a")], remarks: [])
    }
    #expect(try text() == "precious")
  }

  @Test("a file in a folder that does not exist is an error")
  func nowhere() {
    #expect(throws: SystemError("create", "/nowhere/x", code: ENOENT)) {
      _ = try RecordingFile("/nowhere/x", [device("a")], remarks: [])
    }
  }

  @Test("reports are written once they are flushed, and once")
  func flushed() throws {
    let file = try RecordingFile(path, [device("a")], remarks: ["a remark"])
    let header = try text()
    #expect(header.hasPrefix("# a remark\nversion: 1\nndevices: 1\n"))
    #expect(header.hasSuffix("  events:\n"))
    file.add([try press(0, at: 1_000_000)])
    #expect(try text() == header)
    try file.flush()
    let reports = try text().dropFirst(header.count)
    #expect(reports.hasPrefix("  - evdev:\n    - [  1,      0,   1,  30,       1]"))
    try file.flush()
    try file.finish()
    #expect(try text() == header + reports, "nothing is written twice")
  }

  @Test(
    "reports of all devices are written once they are flushed, and are one recording at the end")
  func severalDevices() throws {
    let file = try RecordingFile(path, [device("a"), device("b"), device("c")], remarks: [])
    for (time, section) in [(1, 1), (2, 0), (3, 1)] as [(Int64, Int)] {
      file.add([try press(section, at: time * 1_000_000)])
      try file.flush()
    }
    let before = try text()
    #expect(before.contains("ndevices: 3\n"))
    #expect(before.contains("[  2,      0,   1,  30,       1]"))
    #expect(!before.contains("/dev/b"))
    // What is left if this process is killed now.
    let second = try String(contentsOfFile: "\(path).2", encoding: .utf8)
    let header = "version: 1\nndevices: 1\ndevices:\n"
    #expect(second.hasPrefix(header + "- node: /dev/b\n"))
    var recording = try Recording(opening: [path, "\(path).2"]) { _ in }
    var times: [Int64] = []
    while let batch = try recording.next() {
      times += batch.inputs.compactMap { ($0.time?.microseconds).map { $0 / 1_000_000 } }
    }
    #expect(times == [1, 2, 3])
    let mode = try FileManager.default.attributesOfItem(atPath: "\(path).2")[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try file.finish()
    let after = try text()
    #expect(after.hasPrefix(before + second.dropFirst(header.utf8.count) + "- node: /dev/c\n"))
    #expect(after.hasSuffix("  events:\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["recording"])
  }

  @Test("where there is a file already, the second device's reports wait for the end")
  func occupied() throws {
    _ = try folder.write("recording.2", "precious")
    let file = try RecordingFile(path, [device("a"), device("b")], remarks: [])
    file.add([try press(1, at: 1_000_000)])
    try file.flush()
    #expect(try !text().contains("/dev/b"))
    try file.finish()
    #expect(try text().contains("[  1,      0,   1,  30,       1]"))
    #expect(try String(contentsOfFile: "\(path).2", encoding: .utf8) == "precious")
  }
}
