import Foundation
import TestSupport
import Testing

/// `keymodectl shift`, whose virtual keyboard types into a FIFO.
@Suite("A Shift that types", .timeLimit(.minutes(10)))
final class ShiftTests {
  /// A press, a release, or both, of a key of the virtual keyboard.
  private enum Typed: Equatable {
    case shiftDown, shiftUp, capsLock
    case unexpected([UInt16])
  }

  private let memory: TemporaryFolder
  private let preload: FIFOKeyboard
  private let uinput: Int32

  init() throws {
    memory = try TemporaryFolder()
    preload = try FIFOKeyboard()
    let path = "\(memory.path)/uinput"
    try #require(mkfifo(path, 0o600) == 0)
    uinput = open(path, O_RDWR | O_CLOEXEC)
    try #require(uinput >= 0)
  }

  deinit { close(uinput) }

  /// The next report of the virtual keyboard; for Caps Lock, both reports.
  private func typed() throws -> Typed {
    func report() throws -> [UInt16] {
      try awaitInput(uinput, "a report")
      // Two events of 24 bytes: the key, by its type, code and value, and the end of the report.
      var bytes = [UInt8](repeating: 0, count: 48)
      try #require(read(uinput, &bytes, bytes.count) == bytes.count)
      return [16, 18, 20].map { UInt16(bytes[$0]) }
    }
    switch try report() {
    case [1, FIFOKeyboard.Key.leftShift.rawValue, 1]: return .shiftDown
    case [1, FIFOKeyboard.Key.leftShift.rawValue, 0]: return .shiftUp
    case [1, FIFOKeyboard.Key.capsLock.rawValue, 1]:
      return try report() == [1, FIFOKeyboard.Key.capsLock.rawValue, 0]
        ? .capsLock : .unexpected([])
    case let other: return .unexpected(other)
    }
  }

  private func shift(
    _ directory: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "keymodectl",
      ["shift", "--any-session", "--socket-dir", directory] + arguments,
      environment: ["RUNTIME_DIRECTORY": memory.path, "FIFO_UINPUT": "\(memory.path)/uinput"]
        .merging(preload.environment) { $1 }.merging(environment) { $1 })
  }

  /// Starts it, and waits until it knows the states.
  private func following(
    _ daemon: RunningDaemon, _ arguments: String...
  ) throws -> RunningProgram {
    let path = "\(memory.path)/notify"
    unlink(path)
    let manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    // Later notifications fail, which the program ignores.
    defer { close(manager) }
    try #require(withSocketAddress(path) { bind(manager, $0, $1) } == 0)
    let program = try shift(
      daemon.sockets, arguments, environment: ["NOTIFY_SOCKET": path])
    var told = ""
    while told != "STATUS=" {
      try awaitInput(manager, "a notification")
      var text = [UInt8](repeating: 0, count: 4096)
      let count = recv(manager, &text, text.count, 0)
      told = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
    }
    return program
  }

  private func tapping() throws -> RunningDaemon {
    try .following(
      configuration: "devices: { ignore: [\"*\"] }\nshift: { trigger: tap, threshold: 60s }\n")
  }

  @Test("one shot holds Shift while the state is on; a found state does not")
  func oneShot() throws {
    let daemon = try tapping()
    try daemon.trigger("shiftPressed")
    let program = try following(daemon, "--one-shot", "--at-most", "5s")
    for event in ["characterTyped", "shiftPressed", "characterTyped", "shiftPressed"] {
      try daemon.trigger(event)
    }
    #expect(try typed() == .shiftDown)
    #expect(try typed() == .shiftUp)
    #expect(try typed() == .shiftDown)
    daemon.kill()
    #expect(try typed() == .shiftUp)
    try wait(for: "the message") { program.errors.contains("waiting for it") }
    program.terminate()
    #expect(program.end() == SIGTERM)
    #expect(!program.errors.contains("does not answer"))
  }

  @Test("the status of the service is one line, whatever the error")
  func status() throws {
    let folder = try TemporaryFolder()
    let daemon = try ScriptedDaemon(
      in: folder.path, ScriptedDaemon.answers, withholding: .saysNothing)
    let path = "\(folder.path)/notify"
    let manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(manager) }
    try #require(withSocketAddress(path) { bind(manager, $0, $1) } == 0)
    let program = try shift(folder.path, ["--caps-lock"], environment: ["NOTIFY_SOCKET": path])
    var told = ""
    while !told.hasPrefix("STATUS=") {
      try awaitInput(manager, "a notification")
      var text = [UInt8](repeating: 0, count: 4096)
      let count = recv(manager, &text, text.count, 0)
      told = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
    }
    #expect(
      told == "STATUS=keymoded does not answer at '\(folder.path)/state.sock'; "
        + "'systemctl status keymoded' shows the state of the service")
    withExtendedLifetime((daemon, program)) {}
  }

  @Test("one shot ends by itself, and when the daemon hangs or the program ends")
  func endOfOneShot() throws {
    let daemon = try tapping()
    let program = try following(daemon, "--one-shot", "--at-most", "200ms")
    try daemon.trigger("shiftPressed")
    #expect(try typed() == .shiftDown)
    #expect(try typed() == .shiftUp)
    program.terminate()
    _ = program.end()
    #expect(program.errors == "")

    try daemon.trigger("characterTyped")
    let next = try following(daemon, "--one-shot", "--at-most", "5s")
    for _ in 1...2 {
      try daemon.trigger("shiftPressed")
      #expect(try typed() == .shiftDown)
      let start = ContinuousClock.now
      try daemon.whileStopped {
        let typed = try typed()
        #expect(typed == .shiftUp)
        #expect(.now - start < .seconds(4))
      }
      try daemon.trigger("characterTyped")
    }
    try daemon.trigger("shiftPressed")
    #expect(try typed() == .shiftDown)
    next.terminate()
    #expect(try typed() == .shiftUp)
    #expect(next.end() == SIGTERM)
    #expect(next.errors.contains("does not answer"))
  }

  @Test("one shot is refused where the daemon does not wait for taps")
  func trigger() throws {
    let daemon = try RunningDaemon.following()
    let program = try shift(daemon.sockets, ["--one-shot"])
    #expect(program.end() == 2)
    #expect(
      program.errors.contains(
        "--one-shot needs 'shift: { trigger: tap }' in the daemon's configuration, "
          + "which has 'press'"))
  }

  @Test("only one runs at a time")
  func single() throws {
    let daemon = try tapping()
    let first = try following(daemon, "--caps-lock")
    let second = try shift(daemon.sockets, ["--caps-lock"])
    #expect(second.end() == 1)
    #expect(
      second.errors
        == "keymodectl: cannot make a virtual keyboard: another 'keymodectl shift' runs\n")
    #expect(first.isRunning)
  }

  /// A daemon that tells these changes after the states, of the machine, to the state.
  private func daemon(
    _ shift: String, capsIsOn: Bool, _ changes: [(String, String)]
  ) throws -> (ScriptedDaemon, TemporaryFolder) {
    let folder = try TemporaryFolder()
    func state(_ sequence: Int) -> String {
      #"{"instance":"i","sequence":\#(sequence),"time":1,"states":{"shift":"\#(shift)","#
        + #""keyboard":"idle","caps":"\#(capsIsOn ? "on" : "off")","num":"unknown"},"since":{}}"#
    }
    var answers = ScriptedDaemon.answers
    answers["Monitor"] = [
      #"{"parameters":{"state":\#(state(1)),"changes":[],"missed":0,"restarted":false},"continues":true}"#
    ]
    for (index, (machine, to)) in changes.enumerated() {
      let change =
        #"{"sequence":\#(index + 2),"time":1,"machine":"\#(machine)","from":"x","to":"\#(to)","#
        + #""event":"e"}"#
      answers["Monitor"]?.append(
        #"{"parameters":{"state":\#(state(index + 2)),"changes":[\#(change)],"missed":0,"restarted":false},"#
          + #""continues":true}"#)
    }
    let daemon = try ScriptedDaemon(in: folder.path, answers, staysAfterMonitor: true, clients: 2)
    return (daemon, folder)
  }

  @Test("Caps Lock is tapped in capsLock and after it, and a killed process leaves it to the next")
  func capsLock() throws {
    let (first, folder) = try daemon(
      "off", capsIsOn: false,
      [
        ("shift", "capsLock"), ("caps", "on"), ("shift", "off"), ("caps", "off"),
        ("shift", "capsLock"), ("caps", "on"),
      ])
    let program = try shift(folder.path, ["--caps-lock"])
    for _ in 1...3 { #expect(try typed() == .capsLock) }
    kill(program.number, SIGKILL)
    _ = program.end()
    #expect(try String(contentsOfFile: "\(memory.path)/ours", encoding: .utf8) == "-\n\0")
    withExtendedLifetime((first, folder)) {}

    let (second, other) = try daemon("capsLock", capsIsOn: true, [])
    let next = try shift(other.path, ["--caps-lock"])
    #expect(try typed() == .capsLock)
    next.terminate()
    #expect(next.end() == SIGTERM)
    // This daemon never tells that the LED is off.
    #expect(next.errors.hasPrefix("keymodectl: Caps Lock does not answer its key"))
    withExtendedLifetime((second, other)) {}
  }
}
