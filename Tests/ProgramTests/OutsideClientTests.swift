import TestSupport
import Testing
import Wire

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
    #expect(help.output.contains("method Monitor("))
  }

  @Test("the package gets the state, and changes it")
  func call() throws {
    let daemon = try RunningDaemon()
    let state = try varlink("call unix:\(daemon.stateSocket)/org.keymoded.Controller.GetState")
    #expect(state.status == 0, "\(state.errors)")
    #expect(try JSON(parsing: Array(state.output.utf8))["state"]?["states"]?["shift"] == "off")
    let trigger = try varlink(
      "call unix:\(daemon.controlSocket)/org.keymoded.Controller.Trigger "
        + #"'{"event":"clickSwitchButton"}'"#)
    #expect(trigger.status == 0, "\(trigger.errors)")
    let reply = try JSON(parsing: Array(trigger.output.utf8))
    #expect(reply["changed"] == true)
    #expect(reply["state"]?["states"]?["keyboard"] == "prepareToRecord")
    let refused = try varlink(
      "call unix:\(daemon.stateSocket)/org.keymoded.Controller.Trigger "
        + #"'{"event":"clickSwitchButton"}'"#)
    #expect(
      refused.errors.contains("PermissionDenied") || refused.output.contains("PermissionDenied"))
  }

  @Test("the package gets a stream of changes")
  func stream() throws {
    let daemon = try RunningDaemon()
    let program = """
      import varlink, json
      with varlink.Client.new_with_address("unix:\(daemon.stateSocket)") as client:
          with client.open("org.keymoded.Controller") as connection:
              for reply in connection.Monitor(_more=True):
                  print(json.dumps(reply), flush=True)
      """
    let python = try RunningProgram(PythonWithPackages.path(), ["-c", program])
    var replies = [try JSON(parsing: python.line().utf8)]
    for _ in 1...3 {
      try daemon.change(1)
      replies.append(try JSON(parsing: python.line().utf8))
    }
    #expect(replies.map { $0["changes"]?.array?.count } == [0, 1, 1, 1])
    #expect(replies.last?["state"]?["sequence"] == 3)
  }

  /// The examples of docs/clients.md in Python, as they are on that page.
  private static let examples: [String] = {
    let page = (try? String(contentsOfFile: "\(checkout)/docs/clients.md", encoding: .utf8)) ?? ""
    return page.components(separatedBy: "\n```python\n").dropFirst().map {
      $0.components(separatedBy: "\n```\n")[0]
    }
  }()

  @Test("the page's example with the package goes on after a restart, whatever the instance")
  func restart() throws {
    let daemon = try RunningDaemon.following()
    // A folder /run of its own.
    let python = try RunningProgram(
      "/usr/bin/unshare",
      [
        "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
        """
        mount -t tmpfs tmpfs /run && mkdir /run/keymoded && mount --rbind "$1" /run/keymoded &&
          exec "$2" -c "$3"
        """, "sh", daemon.folder.path, PythonWithPackages.path(), try #require(Self.examples.last),
      ])
    try wait(for: "its subscription") {
      try daemon.ask("stats").lines.contains("clients        2")
    }
    try daemon.change(1)
    #expect(try python.line() == "shift is now on")
    daemon.stop()
    daemon.forget()
    try daemon.start()
    #expect(try python.line() == "some changes were missed")
    try daemon.change(1)
    #expect(try python.line() == "shift is now on")
    #expect(!python.errors.contains("Traceback"), "\(python.errors)")
  }
}
