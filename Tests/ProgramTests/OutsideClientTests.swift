import Foundation
import JSON
import TestSupport
import Testing

/// The reference implementation of Varlink in Python, which shares no code with keymoded.
@Suite("Python varlink package")
struct OutsideClientTests {
  private func varlink(_ arguments: String) throws -> Ended {
    try run("/bin/sh", "-c", "'\(PythonWithPackages.path())' -m varlink.cli \(arguments)")
  }

  @Test("the package gets the service info and the description of the interface")
  func info() throws {
    let daemon = try RunningDaemon()
    let info = try varlink("info unix:\(daemon.stateSocket)")
    #expect(info.status == 0, "\(info.errors)")
    #expect(info.output.contains("Product: keymoded"))
    #expect(info.output.contains("org.keymoded.Controller"))
    let help = try varlink("help unix:\(daemon.stateSocket)/org.keymoded.Controller")
    #expect(help.status == 0, "\(help.errors)")
    #expect(help.output.contains("method Monitor(after: ?int, instance: ?string)"))
  }

  @Test("the package gets the state, and changes it")
  func call() throws {
    let daemon = try RunningDaemon()
    let state = try varlink("call unix:\(daemon.stateSocket)/org.keymoded.Controller.GetState")
    #expect(state.status == 0, "\(state.errors)")
    #expect(try JSON(parsing: Array(state.output.utf8))["state"]?["shift"] == "off")
    let trigger = try varlink(
      "call unix:\(daemon.controlSocket)/org.keymoded.Controller.Trigger "
        + #"'{"event":"clickSwitchButton"}'"#)
    #expect(trigger.status == 0, "\(trigger.errors)")
    let reply = try JSON(parsing: Array(trigger.output.utf8))
    #expect(reply["changed"] == true)
    #expect(reply["state"]?["keyboard"] == "prepareToRecord")
    let refused = try varlink(
      "call unix:\(daemon.stateSocket)/org.keymoded.Controller.Trigger "
        + #"'{"event":"clickSwitchButton"}'"#)
    #expect(
      refused.errors.contains("PermissionDenied") || refused.output.contains("PermissionDenied"))
  }

  @Test("the package gets the devices and the statistics")
  func control() throws {
    let daemon = try RunningDaemon()
    try daemon.change(2)
    func call(_ method: String, _ socket: String) throws -> Ended {
      try varlink("call unix:\(socket)/org.keymoded.Controller.\(method)")
    }
    let devices = try call("ListDevices", daemon.controlSocket)
    #expect(devices.status == 0, "\(devices.errors)")
    #expect(try JSON(parsing: Array(devices.output.utf8))["devices"] == [])
    let statistics = try call("GetStatistics", daemon.controlSocket)
    #expect(statistics.status == 0, "\(statistics.errors)")
    #expect(try JSON(parsing: Array(statistics.output.utf8))["changes"] == 2)
    for method in ["ListDevices", "GetStatistics"] {
      let refused = try call(method, daemon.stateSocket)
      #expect(
        refused.errors.contains("PermissionDenied") || refused.output.contains("PermissionDenied"))
    }
  }

  @Test("the package gets a stream of changes")
  func stream() throws {
    let daemon = try RunningDaemon()
    let python = try RunningPython(
      PythonWithPackages.path(),
      """
      import varlink, os, json
      with varlink.Client.new_with_address(f"unix:{os.environ['KEYMODED_SOCKET_DIR']}/state.sock") as client:
          with client.open("org.keymoded.Controller") as connection:
              for reply in connection.Monitor(_more=True):
                  print(json.dumps(reply), flush=True)
      """, daemon)
    _ = try python.lines(1)
    for count in 2...4 {
      try daemon.change(1)
      _ = try python.lines(count)
    }
    let replies = try python.lines(4).map { try JSON(parsing: Array($0.utf8)) }
    #expect(replies.map { $0["changes"]?.array?.count } == [0, 1, 1, 1])
    #expect(replies.last?["state"]?["sequence"] == 3)
  }

  @Test("the example that needs only Python prints the states and their changes")
  func plainPython() throws {
    let page = try String(contentsOfFile: "\(Place.checkout)/docs/clients.md", encoding: .utf8)
    let block = try #require(page.components(separatedBy: "```python\n").dropFirst().first)
    let daemon = try RunningDaemon()
    let example = try #require(block.components(separatedBy: "```").first)
    let python = try RunningPython("/usr/bin/python3", example, daemon)
    #expect(try python.lines(1) == ["off prepareToEditText"])
    try daemon.change(1)
    #expect(
      try python.lines(3) == ["off prepareToEditText", "on prepareToEditText", "  shift is now on"])
  }
}

/// A Python program that `deinit` ends.
private final class RunningPython {
  private let process = Process()
  private let pipe = Pipe()
  private var text = ""

  init(_ python: String, _ program: String, _ daemon: RunningDaemon) throws {
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", program]
    process.environment = ["KEYMODED_SOCKET_DIR": daemon.folder.path]
    process.standardOutput = pipe
    try process.run()
  }

  deinit {
    // A program that did not start has no process ID that may be given to kill.
    guard process.isRunning else { return }
    // The program may have inherited other signals as blocked from the thread that started it.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for the first `count` lines that the program prints.
  func lines(_ count: Int) throws -> [String] {
    while text.split(separator: "\n").count < count {
      try awaitInput(pipe.fileHandleForReading.fileDescriptor, "the program in Python")
      let data = pipe.fileHandleForReading.availableData
      try #require(!data.isEmpty, "it ended")
      text += String(decoding: data, as: UTF8.self)
    }
    return text.split(separator: "\n").prefix(count).map(String.init)
  }
}
