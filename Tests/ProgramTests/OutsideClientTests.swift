import Foundation
import JSON
import TestSupport
import Testing

/// The reference implementation of Varlink in Python, which shares no code with keymoded.
@Suite("The Python varlink package")
struct OutsideClientTests {
  private func varlink(_ arguments: String) throws -> Ended {
    try #require(
      FileManager.default.isExecutableFile(atPath: Place.python),
      "no \(Place.python): 'make test' installs it")
    return try run("/bin/sh", "-c", "'\(Place.python)' -m varlink.cli \(arguments)")
  }

  @Test("gets the info and the description of the interface")
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

  @Test("gets the state, and changes it")
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

  @Test("gets a stream of changes")
  func stream() throws {
    let daemon = try RunningDaemon()
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: Place.python)
    process.arguments = [
      "-u", "-c",
      """
      import varlink, sys, json
      with varlink.Client.new_with_address("unix:" + sys.argv[1]) as client:
          with client.open("org.keymoded.Controller") as connection:
              for reply in connection.Monitor(_more=True):
                  print(json.dumps(reply), flush=True)
                  if reply["state"]["sequence"] == 3:
                      break
      """, daemon.stateSocket,
    ]
    process.standardOutput = pipe
    try process.run()
    var text = ""
    func read(_ lines: Int) throws {
      while text.split(separator: "\n").count < lines {
        try awaitInput(pipe.fileHandleForReading.fileDescriptor, "the stream")
        let data = pipe.fileHandleForReading.availableData
        try #require(!data.isEmpty)
        text += String(decoding: data, as: UTF8.self)
      }
    }
    try read(1)
    for count in 2...4 {
      try daemon.change(1)
      try read(count)
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let replies = try text.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
    #expect(replies.map { $0["changes"]?.array?.count } == [0, 1, 1, 1])
    #expect(replies.last?["state"]?["sequence"] == 3)
  }
}
