import Foundation
import KeyboardModes
import System
import TestSupport
import Testing

@testable import Keyboards

/// `Tests/VirtualMachine` tests real input devices. These tests have ordinary files in place of
/// device nodes, none of which can be followed.
@Suite("Keyboards without udev")
struct KeyboardsTests {
  /// The errors reported for nodes in `folder` while the steps run. The first step runs at the start
  /// or after the first report, each later one after a report on the step before.
  private func reports(
    _ folder: TemporaryFolder, _ selection: Keyboards.Selection,
    while steps: [(Keyboards) throws -> Void]
  ) throws -> [String] {
    let loop = try EventLoop()
    var rest = steps[...]
    var reports: [String] = []
    var keyboards: Keyboards?
    var read = {}
    // Breaks the cycle: `keyboards` and the deferred source refer to each other.
    defer { keyboards = nil }
    // Deferred, because a step must not run inside the report of the step before.
    let next = try loop.addDeferred {
      do {
        guard let step = rest.popFirst(), let keyboards else { return loop.stop() }
        try step(keyboards)
        read()
      } catch {
        Issue.record(error)
        loop.stop()
      }
    }
    keyboards = Keyboards(
      selection,
      in: DeviceFinder.Paths(nodes: "\(folder.path)/input", udevControl: "\(folder.path)/udev"))
    read = {
      var batch = Batch()
      keyboards?.read(into: &batch)
      #expect(batch.inputs.allSatisfy { $0.device == nil })
      for report in keyboards?.takeReports() ?? [] {
        if case .failed(let error) = report {
          reports.append("\(error)".replacing("\(folder.path)/", with: ""))
        } else {
          Issue.record("\(report)")
        }
        next.callSoon()
      }
    }
    let limit = try loop.addTimer {
      Issue.record("nothing was reported of step \(steps.count - rest.count)")
      loop.stop()
    }
    limit.set(at: UInt64(microsecondsSinceBoot()) + UInt64(boundSeconds) * 1_000_000)
    try keyboards?.start(on: loop, ready: read)
    if reports.isEmpty { next.callSoon() }
    try loop.run()
    #expect(keyboards?.devices.isEmpty == true)
    return reports
  }

  private func make(_ folder: TemporaryFolder, _ name: String) throws {
    try Data().write(to: URL(fileURLWithPath: "\(folder.path)/input/\(name)"))
  }

  private let all = Keyboards.Selection.all(DeviceRules(), pointers: true)

  @Test("every evdev node that exists or appears is tried, and each error is reported once")
  func nodes() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/input", withIntermediateDirectories: false)
    for name in ["event10", "event9", "js0", "mice"] { try make(folder, name) }
    let path = "\(folder.path)/input"
    let found = try reports(
      folder, all,
      while: [
        { _ in
          #expect(chmod("\(path)/event9", 0o640) == 0)
          try make(folder, "mouse0")
          try make(folder, "event0")
          // As if it were unplugged since it was listed, which is no error.
          #expect(symlink("nothing", "\(path)/event5") == 0)
        },
        // Opening the node fails differently now, which is a new report.
        { _ in
          #expect(symlink("event0", "\(path)/link") == 0)
          #expect(rename("\(path)/link", "\(path)/event0") == 0)
        },
        { keyboards in
          try make(folder, "event1")
          try keyboards.follow(all)
        },
      ])
    #expect(
      found == [
        "cannot follow 'input/event9': not an input device",
        "cannot follow 'input/event10': not an input device",
        "cannot follow 'input/event0': not an input device",
        "cannot open 'input/event0': Too many levels of symbolic links",
        "cannot follow 'input/event1': not an input device",
      ])
  }

  @Test("a named device is tried again when a node appears")
  func named() throws {
    let folder = try TemporaryFolder()
    let link = "\(folder.path)/my keyboard"
    let found = try reports(
      folder, .named([link]),
      while: [
        { _ in
          try FileManager.default.createDirectory(
            atPath: "\(folder.path)/input", withIntermediateDirectories: false)
          #expect(symlink("input/event3", link) == 0)
          try make(folder, "event3")
        }
      ])
    #expect(
      found == [
        "cannot open 'my keyboard': No such file or directory",
        "cannot follow 'my keyboard': not an input device",
      ])
  }
}
