import Foundation
import KeyboardModes
import Keyboards
import Linux
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

  private func press(_ device: Int, at time: Int64) throws -> Report {
    let key = try #require(KeyCode(UInt16(30)))
    let event = KeyEvent(time: Time(microseconds: time), key: key, action: .press)
    let inputs = [Controller.Input.key(DeviceID(order: device), event)]
    return try #require(Report.reports(of: inputs, at: Time(microseconds: 0)).first)
  }

  private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("a new file can be read by its owner only")
  func mode() throws {
    _ = try RecordingFile(path, .evemu, [], remarks: [])
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("an existing file is not overwritten")
  func existing() throws {
    _ = try folder.write("recording", "precious")
    #expect(throws: SystemError("create", path, code: EEXIST)) {
      _ = try RecordingFile(path, .evemu, [], remarks: [])
    }
    #expect(try text() == "precious")
  }

  @Test("a file in a folder that does not exist is an error")
  func nowhere() {
    #expect(throws: SystemError("create", "/nowhere/x", code: ENOENT)) {
      _ = try RecordingFile("/nowhere/x", .evemu, [], remarks: [])
    }
  }

  @Test("evemu has a header, and reports once they are flushed")
  func evemu() throws {
    let file = try RecordingFile(path, .evemu, [device("a")], remarks: ["a remark"])
    let header = try text()
    #expect(header.hasPrefix("# EVEMU 1.3\n# a remark\nN: a\n"))
    file.write(try press(0, at: 1_000_000), 0)
    #expect(try text() == header)
    try file.flush()
    let reports = try text().dropFirst(header.count)
    #expect(reports.hasPrefix("E: 1.000000 0001 001e 0001"))
    try file.flush()
    try file.finish()
    #expect(try text() == header + reports, "nothing is written twice")
  }

  @Test("libinput has the reports of the first device at once, and those of others at the end")
  func libinput() throws {
    let file = try RecordingFile(path, .libinput, [device("a"), device("b")], remarks: [])
    for (time, section) in [(1, 1), (2, 0), (3, 1)] as [(Int64, Int)] {
      file.write(try press(section, at: time * 1_000_000), section)
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
