import Foundation
import Terminal
import TestSupport
import Testing

@testable import System

@Suite("Folder monitor")
struct FolderMonitorTests {
  /// Runs the steps, each after the folder's monitor has reported the files of the step before.
  private func expect(
    _ path: String, _ steps: [(step: () throws -> Void, files: [String])]
  ) throws {
    let loop = try EventLoop()
    var reports = 0
    let monitor = try FolderMonitor(loop, path: path) { reports += 1 }
    for (number, (step, files)) in steps.enumerated() {
      reports = 0
      try step()
      var found: [String] = []
      while reports == 0 || found != files {
        if try !loop.runOnce(), !loop.findReady(timeout: Int32(boundSeconds) * 1000) { break }
        found = []
        try monitor.forEachPresent { found.append($0.replacing("\(path)/", with: "")) }
      }
      #expect(found == files, "after step \(number)")
      while try loop.runOnce() {}
    }
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
    try expect(
      input,
      [
        ({ try make("\(input)/event1") }, ["event0", "event1"]),
        ({ #expect(chmod("\(input)/event0", 0o640) == 0) }, ["event0", "event1"]),
        (
          { #expect(rename("\(folder.path)/elsewhere", "\(input)/event2") == 0) },
          ["event0", "event1", "event2"]
        ),
      ])
  }

  @Test("the folder may appear later, vanish and appear again")
  func comesAndGoes() throws {
    let folder = try TemporaryFolder()
    let input = "\(folder.path)/input"
    try expect(
      input,
      [
        (
          {
            try make("\(folder.path)/other")
            try makeFolder(input)
            try make("\(input)/event10")
            try make("\(input)/event2")
          }, ["event2", "event10"]
        ),
        ({ try make("\(input)/event3") }, ["event2", "event3", "event10"]),
        (
          {
            try FileManager.default.removeItem(atPath: input)
            try makeFolder(input)
            try make("\(input)/event4")
          }, ["event4"]
        ),
        ({ try make("\(input)/event5") }, ["event4", "event5"]),
        (
          {
            #expect(rename(input, "\(folder.path)/moved") == 0)
            try make("\(folder.path)/moved/event6")
            try makeFolder(input)
            try make("\(input)/event7")
          }, ["event7"]
        ),
        ({ try make("\(input)/event8") }, ["event7", "event8"]),
      ])
  }

  @Test("present files are listed by number, and a missing folder has none")
  func list() throws {
    let folder = try TemporaryFolder()
    let loop = try EventLoop()
    let monitor = try FolderMonitor(loop, path: folder.path) {}
    for name in ["event10", "event9", "mice", "event1"] { try make("\(folder.path)/\(name)") }
    var paths: [String] = []
    try monitor.forEachPresent { paths.append($0) }
    #expect(
      paths == ["mice", "event1", "event9", "event10"].map { "\(folder.path)/\($0)" })
    let missing = try FolderMonitor(loop, path: "\(folder.path)/none") {}
    try missing.forEachPresent { Issue.record("\($0)") }
  }

  @Test("a missing parent folder is an error")
  func nowhere() throws {
    let loop = try EventLoop()
    #expect {
      try FolderMonitor(loop, path: "/nowhere/input") {}
    } throws: { error in
      "\(error)" == "cannot watch '/nowhere': No such file or directory"
    }
  }
}
