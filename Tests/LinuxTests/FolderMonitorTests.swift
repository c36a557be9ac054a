import Foundation
import Linux
import Terminal
import TestSupport
import Testing

@Suite("Folder monitor")
struct FolderMonitorTests {
  /// The files reported while the steps run, each after a report on the step before.
  private func told(
    of path: String, while steps: [() throws -> Void]
  ) throws -> [String] {
    let loop = try EventLoop()
    var rest = steps[...]
    var told: [String] = []
    func proceed() {
      do {
        guard let step = rest.popFirst() else { return loop.stop() }
        try step()
      } catch {
        Issue.record(error)
        loop.stop()
      }
    }
    let monitor = try FolderMonitor(loop, path: path) { file in
      told.append(file.replacing("\(path)/", with: ""))
      proceed()
    }
    let limit = try loop.addTimer {
      Issue.record("nothing was told of step \(steps.count - rest.count)")
      loop.stop()
    }
    limit.set(at: UInt64(microsecondsSinceBoot()) + UInt64(boundSeconds) * 1_000_000)
    proceed()
    try withExtendedLifetime(monitor) { try loop.run() }
    return told
  }

  private func make(_ path: String) throws {
    try Data().write(to: URL(fileURLWithPath: path))
  }

  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  @Test("files that are created, moved in or given other permissions are reported")
  func changes() throws {
    let folder = try TemporaryFolder()
    let input = "\(folder.path)/input"
    try makeFolder(input)
    try make("\(input)/event0")
    try make("\(folder.path)/elsewhere")
    let found = try told(
      of: input,
      while: [
        { try make("\(input)/event1") },
        { #expect(chmod("\(input)/event0", 0o640) == 0) },
        { #expect(rename("\(folder.path)/elsewhere", "\(input)/event2") == 0) },
        // Removing a file and writing to it are not reported.
        {
          #expect(unlink("\(input)/event1") == 0)
          try Data("x".utf8).write(to: URL(fileURLWithPath: "\(input)/event2"))
          try make("\(input)/event1")
        },
      ])
    #expect(found == ["event1", "event0", "event2", "event1"])
  }

  @Test("the folder may appear later, vanish and appear again")
  func comesAndGoes() throws {
    let folder = try TemporaryFolder()
    let input = "\(folder.path)/input"
    let found = try told(
      of: input,
      while: [
        {
          try make("\(folder.path)/other")
          try makeFolder(input)
          try make("\(input)/event10")
          try make("\(input)/event2")
        },
        {},  // after the report of the second file
        { try make("\(input)/event3") },
        {
          try FileManager.default.removeItem(atPath: input)
          try makeFolder(input)
          try make("\(input)/event4")
        },
        { try make("\(input)/event5") },
      ])
    #expect(found == ["event2", "event10", "event3", "event4", "event5"])
  }

  @Test("present files are listed by number, and a missing folder has none")
  func list() throws {
    let folder = try TemporaryFolder()
    let loop = try EventLoop()
    let monitor = try FolderMonitor(loop, path: folder.path) { _ in }
    for name in ["event10", "event9", "mice", "event1"] { try make("\(folder.path)/\(name)") }
    var paths: [String] = []
    try monitor.forEachPresent { paths.append($0) }
    #expect(
      paths == ["mice", "event1", "event9", "event10"].map { "\(folder.path)/\($0)" })
    let missing = try FolderMonitor(loop, path: "\(folder.path)/none") { _ in }
    try missing.forEachPresent { Issue.record("\($0)") }
  }

  @Test("a missing parent folder is an error")
  func nowhere() throws {
    let loop = try EventLoop()
    #expect {
      try FolderMonitor(loop, path: "/nowhere/input") { _ in }
    } throws: { error in
      "\(error)" == "cannot watch '/nowhere': No such file or directory"
    }
  }
}
