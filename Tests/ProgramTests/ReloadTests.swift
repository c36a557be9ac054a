import Foundation
import TestSupport
import Testing
import Wire

@Suite("Reload of the configuration")
struct ReloadTests {
  private let controller = "org.keymoded.Controller"

  /// Sends SIGHUP, and waits until the daemon has logged `line` once more than before.
  private func hangUp(_ daemon: RunningDaemon, until line: String) throws {
    let before = daemon.log.components(separatedBy: line).count
    kill(daemon.process.processIdentifier, SIGHUP)
    try wait(for: line) { daemon.log.components(separatedBy: line).count > before }
  }

  private func reload(_ daemon: RunningDaemon, _ text: String, until line: String) throws {
    _ = try daemon.folder.write("keymoded.yaml", text)
    try hangUp(daemon, until: line)
  }

  @Test("a good configuration is applied, and the daemon keeps its states and subscribers")
  func good() throws {
    let daemon = try RunningDaemon()
    let subscriber = try daemon.subscriber()
    let control = try daemon.client(\.controlSocket)
    _ = try control.result("\(controller).Trigger", ["event": "shiftPressed"])
    #expect(try subscriber.reply()["parameters"]?["changes"]?.array?.count == 1)
    let before = try control.result("\(controller).GetState")["state"]

    try reload(daemon, "shift: { threshold: 60s }\n", until: "the configuration was read again")
    let after = try control.result("\(controller).GetState")["state"]
    for name in ["instance", "sequence", "states", "since"] {
      #expect(after?[name] == before?[name])
    }
    _ = try control.result("\(controller).Trigger", ["event": "shiftPressed"])
    let change = try subscriber.reply()["parameters"]?["changes"]?.array?.first
    #expect(change?["to"] == "capsLock", "by the threshold of a minute")
    #expect(change?["sequence"] == 2)
    #expect(daemon.stop() == 0)
  }

  @Test("a bad configuration is refused with all its errors, and the old one stays")
  func bad() throws {
    let daemon = try RunningDaemon()
    let control = try daemon.client(\.controlSocket)
    try reload(daemon, "shift: { threshold: 60s }\n", until: "the configuration was read again")
    try reload(
      daemon, "shfit: {}\nshift: { threshold: 1us, trigger: tip }\n",
      until: "keeping the present configuration")
    let file = "\(daemon.folder.path)/keymoded.yaml"
    #expect(daemon.log.contains("\(file):1:1: unknown setting 'shfit'; did you mean 'shift'?\n"))
    #expect(daemon.log.contains("\(file):2:35: 'tip' is none of press, tap and always\n"))
    for state in ["on", "capsLock"] {
      let reply = try control.result("\(controller).Trigger", ["event": "shiftPressed"])
      #expect(reply["state"]?["states"]?["shift"]?.string == state)
    }
    try reload(
      daemon, String(repeating: "shfit: {}\n", count: 60_000),
      until: "\(file): 59980 more errors\n")
    try FileManager.default.removeItem(atPath: file)
    try hangUp(daemon, until: "keeping the present configuration")
    #expect(daemon.log.contains("\(file): No such file or directory\n"))
    #expect(daemon.stop() == 0)
  }

  @Test("the service manager learns when a reload starts, in monotonic time, and when it is done")
  func notifications() throws {
    func now() -> Int64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
    let daemon = try RunningDaemon()
    // With a bad or a good configuration, the daemon is ready again.
    for (text, line) in [
      ("shift: 1\n", "keeping the present configuration"), ("shift: {}\n", "was read again"),
    ] {
      let before = now()
      try reload(daemon, text, until: line)
      let after = now()
      let lines = try daemon.notification().split(separator: "\n")
      #expect(lines.first == "RELOADING=1")
      let parts = try #require(lines.last?.split(separator: "="))
      #expect(parts.first == "MONOTONIC_USEC")
      let time = try #require(Int64(parts[1]))
      #expect(before...after ~= time)
      #expect(try daemon.notification() == "READY=1")
    }
    #expect(
      try daemon.client(\.controlSocket).result("\(controller).GetStatistics")["reloads"] == 2)
  }

  @Test("the status of the service tells that a reload was refused, and where the error is")
  func status() throws {
    let daemon = try RunningDaemon.following()
    let file = "\(daemon.folder.path)/keymoded.yaml"
    for (text, status) in [
      ("shift: {}\nshfit: {}\n", "; the last reload was refused: error at \(file):2:1"),
      (RunningDaemon.withoutDevices, ""),
    ] {
      try daemon.configure(text)
      kill(daemon.process.processIdentifier, SIGHUP)
      while try daemon.notification() != "READY=1" {}
      #expect(daemon.status == "keyboards followed: 0\(status)")
    }
  }

  @Test("drop-ins are read again, too, and a bad start goes on with all files together")
  func dropIns() throws {
    let daemon = try RunningDaemon.following(configuration: RunningDaemon.withoutDevices)
    let folder = "\(daemon.folder.path)/keymoded.yaml.d"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for name in ["panel", "push-to-talk"] {
      try FileManager.default.copyItem(
        atPath: "\(checkout)/data/recipes/\(name).yaml", toPath: "\(folder)/\(name).yaml")
    }
    try hangUp(daemon, until: "the configuration was read again")
    try daemon.trigger("talk.press")
    #expect(try daemon.ask("state", "talk").output == "talking\n")
    _ = try daemon.folder.write("keymoded.yaml.d/z.yaml", "shift: { timeout: 3 }\n")
    try hangUp(daemon, until: "keeping the present configuration")
    // systemd has been told of both reloads before the next start.
    for _ in 0..<2 { while try daemon.notification() != "READY=1" {} }
    let message = "\(folder)/z.yaml:1:19: '3' has no unit; add s, ms or us"
    #expect(daemon.log.contains("\(message)\n"))
    daemon.kill()
    try daemon.start()
    #expect(daemon.log.contains("the configuration is invalid; the last good one applies\n"))
    #expect(try daemon.ask("state", "talk").output == "talking\n")
    try daemon.trigger("talk.release")
    #expect(try daemon.ask("state", "talk").output != "talking\n")
    let checked = try run("keymoded", "--check", "--config", "\(daemon.folder.path)/keymoded.yaml")
    #expect(checked.status == 4)
    #expect(
      checked.errors == """
        \(message)
          shift: { timeout: 3 }
                            ^

        """)
    try FileManager.default.removeItem(atPath: "\(folder)/z.yaml")
    let good = try run("keymoded", "--check", "--config", "\(daemon.folder.path)/keymoded.yaml")
    let files = ["", ".d/panel.yaml", ".d/push-to-talk.yaml"]
    #expect(good.lines == files.map { "\(daemon.folder.path)/keymoded.yaml\($0): OK" })
  }

  @Test(
    "without the system's file, keymoded --check says so, and the defaults are printed",
    .enabled(if: !FileManager.default.fileExists(atPath: "/etc/keymoded/keymoded.yaml")))
  func noFile() throws {
    let checked = try run("keymoded", "--check")
    #expect(checked.output == "/etc/keymoded/keymoded.yaml: not there; defaults apply\n")
    #expect((checked.status, checked.errors) == (0, ""))
    let printed = try run("keymoded", "--print-config")
    #expect((printed.status, printed.errors) == (0, ""))
    #expect(printed.output.hasPrefix("shift:\n  threshold: 500ms\n"))
  }

  @Test("warnings about a valid configuration are reported with their position")
  func warnings() throws {
    let daemon = try RunningDaemon()
    let text = "keyboard: { bindings: { tapTextField: F9 release } }\n"
    try reload(daemon, text, until: "was read again")
    let file = "\(daemon.folder.path)/keymoded.yaml"
    let warning = "\(file):1:39: warning: nothing is bound to the press of F9\n"
    #expect(daemon.log.contains(warning))
    for (option, output) in [
      ("--check", "\(file): OK\n"),
      ("--print-config", "tapTextField: [\"F9 release\"]  # \(file)\n"),
    ] {
      let ended = try run("keymoded", option, "--config", file)
      #expect((ended.status, ended.errors) == (0, warning))
      #expect(ended.output.contains(output))
    }
    let graph = try run("keymodectl", "graph", "shift", "--config", file)
    #expect((graph.status, graph.errors) == (0, warning))
    #expect(daemon.stop() == 0)
  }
}
