import Foundation
import System
import TestSupport
import Testing

/// Events that are stamped ahead of the clock, as in another time namespace, count as of now: no program
/// waits for their time, which would keep it from everything else.
@Suite("Stamps ahead of the clock", .timeLimit(.minutes(5)))
struct StampsAheadTests {
  private static let hour: Int64 = 3_600_000_000

  /// Ends a daemon also if it does not heed SIGTERM.
  private func checked(_ daemon: RunningDaemon, _ body: () throws -> Void) throws {
    defer { daemon.kill() }
    try body()
    let start = ContinuousClock.now
    #expect(daemon.stop() == 0)
    #expect(.now - start < .seconds(5))
  }

  /// Waits until a process sleeps, and checks that it then takes no more time.
  private func expectRest(_ number: Int32) throws {
    func fields() throws -> [Substring] {
      let stat = try String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
      return stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    }
    try wait(for: "the process to sleep") { try fields()[1] == "S" }
    let before = try fields()[12...13]
    Thread.sleep(forTimeInterval: 0.5)
    let ticks = zip(before, try fields()[12...13]).map { (Int($1) ?? 0) - (Int($0) ?? 0) }
    #expect(ticks.reduce(0, +) < 10, "of 50")
  }

  @Test("keys, LEDs and losses take effect at once", arguments: [2_000_000, hour])
  func daemon(_ ahead: Int64) throws {
    let keyboard = try FIFOKeyboard(leds: [])
    let daemon = try RunningDaemon.following(keyboard)
    try checked(daemon) {
      let subscriber = try daemon.subscriber()
      var last = microsecondsSinceBoot()
      /// Checks that the next change is to this state, and as of now.
      func expect(_ state: String) throws {
        let change = try subscriber.reply()["parameters"]?["changes"]?.array?.first
        #expect(change?["to"]?.string == state)
        let time = try #require(change?["time"]?.integer)
        #expect(last...microsecondsSinceBoot() ~= time)
        last = time
      }
      try keyboard.press(.leftShift, at: last + ahead)
      try keyboard.release(.leftShift, at: last + ahead + 1)
      try expect("on")
      try keyboard.show([.caps], at: last + ahead + 2)
      try expect("on")
      try keyboard.drop(at: last + ahead + 3)
      try wait(for: "the loss") { try daemon.ask("stats").lines.contains("losses         1") }
      // A key with a true stamp is not behind them.
      try keyboard.press(.leftShift)
      try expect("capsLock")
      try expectRest(daemon.process.processIdentifier)
    }
  }

  @Test("record and keys show such a key, and end by Ctrl+C; the recording replays as of now")
  func record() throws {
    let keyboard = try FIFOKeyboard()
    let folder = try TemporaryFolder()
    let recording = "\(folder.path)/recording"
    for command in [["record", "--output", recording, keyboard.path], ["keys", keyboard.path]] {
      let program = try RunningProgram("keymodectl", command, environment: keyboard.environment)
      try wait(for: "the beginning") { program.errors.contains("Ctrl+C ends it") }
      let start = microsecondsSinceBoot()
      try keyboard.press(.leftShift, at: start + Self.hour)
      try keyboard.release(.leftShift, at: start + Self.hour)
      if command[0] == "keys" {
        #expect(try program.line().hasPrefix("Left_Shift, shiftPressed"))
      } else {
        try wait(for: "the key") {
          try String(contentsOfFile: recording, encoding: .utf8).contains(
            #/KEY_LEFTSHIFT +0\n/#)
        }
      }
      try expectRest(program.number)
      kill(program.number, SIGINT)
      let ended = ContinuousClock.now
      #expect(program.end() == 0)
      #expect(.now - ended < .seconds(5))
      guard command[0] == "record" else { continue }
      let replayed = try run("keymodectl", "replay", "--json", recording)
      let time = try #require(replayed.output.firstMatch(of: #/"time":(\d+)/#)?.1)
      #expect(try start...microsecondsSinceBoot() ~= #require(Int64(time)))
    }
  }

  @Test("a recording with an event an hour later waits for it without spinning")
  func recording() throws {
    let daemon = try RunningDaemon(
      recording: """
        # EVEMU 1.3
        E: 1.000000 0001 002a 0001
        E: 1.000000 0000 0000 0000
        E: 3601.000000 0001 002a 0000
        E: 3601.000000 0000 0000 0000

        """, speed: "1", configuration: "shift: { timeout: 60s }\n")
    try checked(daemon) {
      try wait(for: "the first key") { try daemon.ask("state", "shift").output == "on\n" }
      try expectRest(daemon.process.processIdentifier)
    }
  }
}
