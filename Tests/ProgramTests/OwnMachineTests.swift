import Foundation
import TestSupport
import Testing
import Wire

/// A machine of one's own in the daemon and in keymodectl. Tests/Machines has its rules.
@Suite("Machines of one's own")
struct OwnMachineTests {
  private static let talk = """
    machines:
      talk:
        initial: silent
        rows:
          silent: { press: talking }
          talking: { release: trailing }
          trailing: { press: talking, after 1ms: silent }
        bindings:
          press: [Any+F9]
          release: [Any+F9 release]

    """

  @Test("keymodectl shows it, waits for it, and sends it events")
  func shown() throws {
    let keyboard = try FIFOKeyboard()
    let daemon = try RunningDaemon.following(keyboard, configuration: Self.talk)
    #expect(
      try daemon.ask("state").output
        == "shift     off\nkeyboard  prepareToEditText\ntalk      silent\n")
    try keyboard.press(.f9)
    #expect(try daemon.ask("wait", "talk=talking", "--timeout", "10s").status == 0)
    #expect(try daemon.ask("trigger", "talk.release").status == 0)
    #expect(try daemon.ask("wait", "talk=silent", "--timeout", "10s").status == 0)
    let ignored = try daemon.ask("trigger", "talk.release")
    #expect(ignored.status == 1)
    #expect(ignored.errors == "keymodectl: ignored: nothing happens on talk.release in silent\n")
    let unknown = try daemon.ask("trigger", "talk.relase")
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("unknown event 'talk.relase'; did you mean 'talk.release'?"))
    let misspelt = try daemon.ask("state", "tlak")
    #expect((misspelt.status, misspelt.output) == (2, ""))
    #expect(misspelt.errors.contains("unknown machine 'tlak'; did you mean 'talk'?"))
    #expect(
      try daemon.ask("graph", "talk", "--current", "--format", "mermaid").output
        .contains("trailing --> silent: timedOut [after 1 ms]"))
  }

  @Test("watch of a machine that is not there says so, names the others, and prints no bare time")
  func absent() throws {
    let daemon = try RunningDaemon.following(
      configuration: RunningDaemon.withoutDevices + Self.talk)
    let misspelt = try daemon.ask("watch", "tlak")
    #expect((misspelt.status, misspelt.output) == (2, ""))
    #expect(misspelt.errors.contains("unknown machine 'tlak'; did you mean 'talk'?"))
    let watch = try RunningProgram(
      "\(Place.programs)/keymodectl", ["watch", "mute", "--socket-dir", daemon.sockets])
    try wait(for: "the warning") {
      watch.errors == """
        keymodectl: keymoded has no machine 'mute', but shift, keyboard, talk, caps and num;
        waiting for a configuration that has it

        """
    }
    let mute = Self.talk.replacing("talk:", with: "mute:").replacing("machines:\n", with: "")
    try daemon.configure(RunningDaemon.withoutDevices + Self.talk + mute)
    kill(daemon.process.processIdentifier, SIGHUP)
    #expect(try watch.line().hasSuffix("mute is silent"))
    watch.terminate()
  }

  @Test(
    "a reload that removes it sends every subscriber the states, and one that brings it back too")
  func reloaded() throws {
    let daemon = try RunningDaemon.following(
      configuration: RunningDaemon.withoutDevices + Self.talk)
    let all = try daemon.subscriber()
    let ofShift = try daemon.client()
    try ofShift.call("org.keymoded.Controller.Monitor", ["machines": ["shift"]], more: true)
    _ = try ofShift.reply()
    try daemon.trigger("talk.press")
    #expect(try all.sequences(1) == [1])
    for (text, state) in [("", nil), (Self.talk, "silent")] {
      try daemon.configure(RunningDaemon.withoutDevices + text)
      kill(daemon.process.processIdentifier, SIGHUP)
      for client in [all, ofShift] {
        let reply = try client.reply()["parameters"]
        #expect(reply?["state"]?["states"]?["talk"]?.string == state)
        #expect(reply?["changes"] == [])
        #expect(reply?["missed"] == 0 && reply?["restarted"] == false)
        #expect(reply?["state"]?["sequence"] == 1)
      }
    }
  }

  @Test("its state, and its awaited release, outlast the daemon")
  func restarted() throws {
    let keyboard = try FIFOKeyboard()
    let daemon = try RunningDaemon.following(keyboard, configuration: Self.talk)
    try keyboard.press(.f9)
    #expect(try daemon.ask("wait", "talk=talking", "--timeout", "10s").status == 0)
    daemon.kill()
    try keyboard.release(.f9)
    try daemon.start()
    #expect(try daemon.ask("wait", "talk=silent", "--timeout", "10s").status == 0)
  }
}
