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
    file.write([try press(0, at: 1_000_000)])
    #expect(try text() == header)
    try file.flush()
    let reports = try text().dropFirst(header.count)
    #expect(reports.hasPrefix("  - evdev:\n    - [  1,      0,   1,  30,       1]"))
    try file.flush()
    try file.finish()
    #expect(try text() == header + reports, "nothing is written twice")
  }

  @Test("the reports of the first device are written at once, and those of others at the end")
  func severalDevices() throws {
    let file = try RecordingFile(path, [device("a"), device("b")], remarks: [])
    for (time, section) in [(1, 1), (2, 0), (3, 1)] as [(Int64, Int)] {
      file.write([try press(section, at: time * 1_000_000)])
    }
    try file.flush()
    let before = try text()
    #expect(before.contains("ndevices: 2\n"))
    #expect(before.contains("[  2,      0,   1,  30,       1]"))
    #expect(!before.contains("/dev/b"))
    try file.finish()
    let after = try text()
    #expect(after.hasPrefix(before + "- node: /dev/b\n"))
    let times = after.dropFirst(before.count).matches(of: #/\[ *(\d+), +0, +1, /#).map(\.1)
    #expect(times == ["1", "3"])
  }
}
