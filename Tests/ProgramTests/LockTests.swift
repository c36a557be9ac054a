import System
import TestSupport
import Testing
import Wire

@Suite("Caps Lock and Num Lock, by the LEDs of keyboards")
struct LockTests {
  private let controller = "org.keymoded.Controller"

  /// Waits until `keymodectl wait` has seen these states.
  private func wait(_ daemon: RunningDaemon, _ conditions: String...) throws {
    let arguments = ["wait"] + conditions + ["--timeout", "\(boundSeconds)"]
    let ended = try run("keymodectl", arguments + ["--socket-dir", daemon.sockets])
    try #require(ended.status == 0, "\(conditions): \(ended.errors)")
  }

  private func states(_ daemon: RunningDaemon) throws -> String { try daemon.ask("state").output }

  @Test("LEDs that are on at the start are on, and their keys change nothing")
  func lit() throws {
    let keyboard = try FIFOKeyboard(leds: .caps)
    let daemon = try RunningDaemon.following(keyboard, configuration: "")
    try wait(daemon, "caps=on", "num=off")
    #expect(try daemon.ask("state", "caps").output == "on\n")
    #expect(try daemon.ask("state", "num").output == "off\n")
    let all = "shift     off\nkeyboard  prepareToEditText\ncaps      on\nnum       off\n"
    #expect(try states(daemon) == all)
    try keyboard.tap(.capsLock)
    try keyboard.show([[.num, .caps]])
    try wait(daemon, "num=on")
    #expect(try states(daemon) == all.replacing("num       off", with: "num       on"))
  }

  @Test("without LEDs, and without devices, locks are unknown and not listed")
  func unknown() throws {
    let keyboard = try FIFOKeyboard()
    for daemon in [try RunningDaemon.following(), try .following(keyboard, configuration: "")] {
      #expect(try daemon.ask("state", "caps").output == "unknown\n")
      #expect(try states(daemon) == "shift     off\nkeyboard  prepareToEditText\n")
      let json = try daemon.ask("state", "--json").output
      #expect(json.contains(#""caps":"unknown","num":"unknown"},"since":{}"#))
    }
  }

  @Test("a restart with the same LEDs publishes nothing, with other ones what has changed")
  func restart() throws {
    let keyboard = try FIFOKeyboard(leds: .caps)
    let daemon = try RunningDaemon.following(keyboard, configuration: "")
    try wait(daemon, "caps=on", "num=off")
    let before = try daemon.client().result("\(controller).GetState")["state"]
    #expect(before?["sequence"] == 2)
    daemon.stop()
    try daemon.start()
    // Shift comes after what the start has found.
    let subscriber = try daemon.subscriber()
    try keyboard.tap(.leftShift)
    #expect(try subscriber.sequences(1) == [3])
    let after = try daemon.client().result("\(controller).GetState")["state"]
    #expect(after?["instance"] == before?["instance"])
    #expect(after?["states"]?["caps"] == "on" && after?["states"]?["num"] == "off")
    daemon.kill()
    try keyboard.showUntold(.num)
    try daemon.start()
    try wait(daemon, "caps=off", "num=on")
    #expect(try daemon.client().result("\(controller).GetState")["state"]?["sequence"] == 5)
  }

  @Test("an LED whose event a grab hides is found after a press of its key")
  func hidden() throws {
    let keyboard = try FIFOKeyboard(leds: [])
    let daemon = try RunningDaemon.following(keyboard, configuration: "")
    try wait(daemon, "caps=off")
    try keyboard.showUntold(.caps)
    try keyboard.press(.capsLock)
    try wait(daemon, "caps=on")
  }

  @Test("a client of some machines gets their changes alone, and is woken by no other")
  func someMachines() throws {
    let keyboard = try FIFOKeyboard(leds: [])
    let daemon = try RunningDaemon.following(keyboard, configuration: "")
    try wait(daemon, "caps=off", "num=off")
    let client = try daemon.client()
    try client.call("\(controller).Monitor", ["machines": ["caps"]], more: true)
    #expect(try client.reply()["parameters"]?["state"]?["states"]?["caps"] == "off")
    try daemon.change(1500)
    try keyboard.show([.caps])
    // More changes than the daemon keeps were passed over; none of this client's was missed.
    let reply = try client.reply()["parameters"]
    #expect(reply?["changes"]?.array?.map { $0["event"] } == ["ledOn"])
    #expect(reply?["changes"]?.array?.map { $0["sequence"] } == [1503])
    #expect(reply?["missed"] == 0)
    #expect(reply?["state"]?["sequence"] == 1503)
    #expect(try daemon.ask("stats").output.contains(/missed +0\n/))
  }

  @Test("keymodectl watch of a lock prints its changes, and those of no other machine")
  func watch() throws {
    let keyboard = try FIFOKeyboard(leds: [])
    let daemon = try RunningDaemon.following(keyboard, configuration: "")
    try wait(daemon, "caps=off", "num=off")
    let options = ["--socket-dir", daemon.sockets]
    let lines = try RunningProgram("keymodectl", ["watch", "caps"] + options)
    let all = try RunningProgram("keymodectl", ["watch"] + options)
    let bar = try RunningProgram("keymodectl", ["watch", "caps", "--waybar"] + options)
    let text = try RunningProgram(
      "keymodectl", ["watch", "--format", "{shift} {num} {caps}"] + options)
    #expect(try lines.line().hasSuffix("  caps is off"))
    #expect(try all.line().hasSuffix("  shift is off, keyboard is prepareToEditText"))
    #expect(try text.line() == "off off off")
    #expect(try bar.line() == #"{"text":"off","alt":"off","tooltip":"caps: off","class":[]}"#)
    try keyboard.tap(.leftShift)
    try keyboard.show([.caps])
    #expect(
      try lines.line().hasSuffix("  caps      off → on                             ledOn"))
    #expect(try all.line().contains("  shift     off → on"))
    #expect(try all.line().contains("  caps      off → on"))
    #expect(try text.line() == "on off off")
    #expect(try text.line() == "on off on")
    #expect(
      try bar.line() == #"{"text":"on","alt":"on","tooltip":"caps: on","class":["caps-on"]}"#)
    let later = try RunningProgram("keymodectl", ["watch"] + options)
    #expect(
      try later.line().hasSuffix("  shift is on, keyboard is prepareToEditText, caps is on"))
  }

  @Test("a client of some machines that reconnects gets their changes since")
  func reconnected() throws {
    let daemon = try RunningDaemon()
    let instance = try #require(
      try daemon.client().result("\(controller).GetState")["state"]?["instance"])
    try daemon.trigger("shiftPressed", "tapTextField", "clickMoreButton")
    func first(_ after: JSON, _ machines: JSON) throws -> JSON {
      let client = try daemon.client()
      let parameters: JSON = ["after": after, "instance": instance, "machines": machines]
      try client.call("\(controller).Monitor", parameters, more: true)
      return try #require(try client.reply()["parameters"])
    }
    let all: JSON = ["shift", "keyboard", "caps", "num"]
    for (after, machines, numbers) in [
      (0, all, [1, 2, 3]), (0, ["keyboard"], [2, 3]), (0, ["shift", "shift"], [1]),
      (1, ["shift"], []), (2, ["keyboard", "num"], [3]), (3, ["keyboard"], []), (0, ["num"], []),
    ] as [(JSON, JSON, [JSON])] {
      let reply = try first(after, machines)
      #expect(reply["changes"]?.array?.compactMap { $0["sequence"] } == numbers)
      #expect(reply["missed"] == 0)
      #expect(reply["state"]?["sequence"] == 3)
    }
  }
}
