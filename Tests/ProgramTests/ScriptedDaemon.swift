import Foundation
import Synchronization
import Testing
import Wire

/// A daemon with given answers to each method, on both sockets, by default for one client at a time.
final class ScriptedDaemon: Sendable {
  /// How the daemon withholds an answer.
  enum Manner: CaseIterable, CustomTestStringConvertible {
    case letsNobodyIn, saysNothing, saysHalf, trickles

    var testDescription: String { "\(self)" }
  }

  /// Answers to every call, of a daemon in its initial states that follows one keyboard.
  static let answers: [String: [String]] = {
    let state =
      #"{"instance":"i","sequence":1,"time":1,"#
      + #""states":{"shift":"off","keyboard":"prepareToEditText"},"since":{}}"#
    return [
      "GetState": #"{"state":\#(state)}"#,
      "Trigger": #"{"changed":true,"state":\#(state)}"#,
      "ListDevices": #"{"devices":[{"name":"k","node":"/dev/input/event3","vendor":"0001","#
        + #""product":"0001","keyboard":true,"pointer":false}]}"#,
      "ListMachines": #"{"machines":[{"name":"shift","initial":"off","states":["off"],"#
        + #""events":[],"rows":[]}]}"#,
      "GetStatistics": #"{"started":0,"time":1,"changes":0,"clients":1,"missed":0,"devices":0,"#
        + #""losses":0,"reloads":0}"#,
    ].mapValues { [#"{"parameters":\#($0)}"#] }.merging([
      "Monitor": [
        #"{"parameters":{"state":\#(state),"changes":[],"missed":0,"restarted":false},"continues":true}"#
      ]
    ]) { $1 }
  }()

  private let listeners: [Int32]
  /// Clients that fill the backlog.
  private let waiting: [Int32]
  private let script: Script

  /// The messages that clients sent, without NUL, and incomplete ones when their client has gone.
  var calls: [String] { script.calls.withLock { $0 } }
  /// The number of clients that have gone.
  var ends: Int { script.ends.withLock { $0 } }

  /// - Parameters:
  ///   - answers: the replies to a call, without NUL, by the name of the method.
  ///   - clients: how many clients of a socket it serves at a time.
  ///   - staysAfterMonitor: whether a connection stays open after the answers to `Monitor`.
  ///   - manner: how it withholds all answers until the test is over or 60 seconds have passed. Then it
  ///     answers, so that a program that waits without a limit ends too, but with another status.
  init(
    in folder: String, _ answers: [String: [String]], staysAfterMonitor: Bool = false,
    clients: Int = 1, withholding manner: Manner? = nil
  ) throws {
    let isFull = manner == .letsNobodyIn
    listeners = try ["state", "control"].map { name in
      let path = "\(folder)/\(name).sock"
      unlink(path)
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      // Renamed once it listens: a client that is refused may wait for a long time.
      try #require(withSocketAddress("\(path).new") { bind(listener, $0, $1) } == 0)
      try #require(listen(listener, isFull ? 0 : 8) == 0)
      try #require(rename("\(path).new", path) == 0)
      return listener
    }
    waiting = isFull ? try ["state", "control"].flatMap { try filled("\(folder)/\($0).sock") } : []
    script = Script(answers, staysAfterMonitor, manner)
    for listener in listeners where !isFull {
      for _ in 1..<clients { script.serve(dup(listener)) }
      script.serve(listener)
    }
  }

  /// A daemon on a socket that listens already.
  init(listeningOn listener: Int32, _ answers: [String: [String]]) {
    (listeners, waiting) = ([listener], [])
    script = Script(answers, true, nil)
    script.serve(listener)
  }

  deinit {
    script.done.signal()
    for listener in listeners { shutdown(listener, Int32(SHUT_RDWR)) }
    for descriptor in waiting { close(descriptor) }
  }
}

/// Fills the backlog of a socket.
private func filled(_ path: String) throws -> [Int32] {
  var others: [Int32] = []
  while others.count < 100 {
    let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    others.append(other)
    if withSocketAddress(path, { connect(other, $0, $1) }) != 0 { break }
  }
  try #require(errno == EAGAIN, "the queue is full")
  return others
}

/// What the daemon says, on threads of its own.
private final class Script: Sendable {
  let calls = Mutex([String]())
  let ends = Mutex(0)
  let done = DispatchSemaphore(value: 0)
  private let answers: [String: [String]]
  private let staysAfterMonitor: Bool
  private let manner: ScriptedDaemon.Manner?

  init(
    _ answers: [String: [String]], _ staysAfterMonitor: Bool, _ manner: ScriptedDaemon.Manner?
  ) {
    (self.answers, self.staysAfterMonitor, self.manner) = (answers, staysAfterMonitor, manner)
  }

  func serve(_ listener: Int32) {
    Thread { [self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        answer(client)
        close(client)
        ends.withLock { $0 += 1 }
      }
      close(listener)
    }.start()
  }

  private func answer(_ client: Int32) {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    // An incomplete message is stored too.
    defer { if !received.isEmpty { add(received) } }
    while true {
      while let end = received.firstIndex(of: 0) {
        add(received[..<end])
        let call = try? JSON(parsing: received[..<end])
        received.removeSubrange(...end)
        let method = call?["method"]?.string?.split(separator: ".").last.map(String.init) ?? ""
        guard let messages = answers[method] else { return }
        for message in messages {
          guard say(Array(message.utf8) + [0], to: client) else { return }
        }
        if method == "Monitor", !staysAfterMonitor { return }
      }
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      received += buffer.prefix(count)
    }
  }

  private func add(_ call: some Sequence<UInt8>) {
    let text = String(decoding: Array(call), as: UTF8.self)
    calls.withLock { $0.append(text) }
  }

  /// Sends a message, after withholding it; returns whether the client is there.
  private func say(_ bytes: [UInt8], to client: Int32) -> Bool {
    let half = manner == .saysHalf ? bytes.count / 2 : 0
    _ = send(client, bytes, half, Int32(MSG_NOSIGNAL))
    let limit = DispatchTime.now() + 60
    if manner == .trickles {
      // JSON may begin with spaces.
      var space = UInt8(ascii: " ")
      while done.wait(timeout: .now() + .milliseconds(10)) == .timedOut,
        DispatchTime.now() < limit, send(client, &space, 1, Int32(MSG_NOSIGNAL)) == 1
      {}
    } else if manner != nil {
      _ = done.wait(timeout: limit)
    }
    return bytes[half...].withUnsafeBytes {
      send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
    }
  }
}
