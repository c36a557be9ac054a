import Foundation
import JSON
import TestSupport
import Testing

/// Waits until `descriptor` is readable; throws `TimedOut` otherwise.
func awaitInput(_ descriptor: Int32, _ what: String) throws {
  var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  guard poll(&entry, 1, Int32(boundSeconds * 1000)) == 1 else { throw TimedOut(waitingFor: what) }
}

func address(_ path: String) -> sockaddr_un {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return address
}

func withSocketAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
  var address = address(path)
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}

/// The daemon under test, in a process of its own, serving a recording.
final class RunningDaemon {
  let folder: TemporaryFolder
  let process = Process()
  private let manager: Int32

  let sockets: String
  var stateSocket: String { "\(sockets)/state.sock" }
  var controlSocket: String { "\(sockets)/control.sock" }
  var log: String {
    (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? ""
  }

  /// Starts the daemon, and waits until it notifies this service manager that it is ready.
  ///
  /// - Parameters:
  ///   - recording: the recording that it plays; by default one without events.
  ///   - sockets: the folder in which it makes its sockets; by default one of its own.
  ///   - errors: its standard error; by default the ``log``.
  init(
    recording: String = "# EVEMU 1.3\n", speed: String = "max", configuration: String = "",
    sockets: String? = nil, errors: FileHandle? = nil
  ) throws {
    folder = try TemporaryFolder()
    self.sockets = sockets ?? folder.path
    let file = try folder.write("recording.evemu", recording)
    _ = try folder.write("log", "")
    // The tests must not use a configuration of this machine.
    let configuration = try folder.write("keymoded.yaml", configuration)
    manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let manager = manager
    try #require(withSocketAddress("\(folder.path)/notify") { bind(manager, $0, $1) } == 0)
    process.executableURL = URL(fileURLWithPath: "\(Place.programs)/keymoded")
    process.arguments = [
      "--config", configuration, "--recording", file, "--speed", speed, "--socket-dir",
      self.sockets,
    ]
    process.environment = ["NOTIFY_SOCKET": "\(folder.path)/notify"]
      .merging(sanitizerOptions) { $1 }
    process.standardError = errors ?? FileHandle(forWritingAtPath: "\(folder.path)/log")
    try process.run()
    try #require(try notification() == "READY=1")
  }

  /// The daemon's next notification.
  func notification() throws -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    try awaitInput(manager, "a notification")
    let count = recv(manager, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  deinit {
    close(manager)
    if process.isRunning {
      process.terminate()
      process.waitUntilExit()
    }
  }

  /// Ends the daemon with SIGTERM.
  ///
  /// - Returns: its exit status.
  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Runs `body` while SIGSTOP keeps the daemon from running.
  func whileStopped(_ body: () throws -> Void) throws {
    let pid = process.processIdentifier
    kill(pid, SIGSTOP)
    defer { kill(pid, SIGCONT) }
    var status = siginfo_t()
    try #require(waitid(P_PID, id_t(pid), &status, WSTOPPED | WNOWAIT) == 0)
    try body()
  }

  /// The resident memory of the daemon.
  func residentKiB() throws -> Int {
    let status = try String(
      contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
  }

  func client(_ path: KeyPath<RunningDaemon, String> = \.stateSocket) throws -> RawClient {
    try RawClient(self[keyPath: path])
  }

  /// A client that has subscribed and got the first reply.
  func subscriber() throws -> RawClient {
    let client = try client()
    try client.subscribe()
    return client
  }

  /// Makes `count` changes, by sending `shiftPressed`.
  func change(_ count: Int) throws {
    try client(\.controlSocket).trigger(Array(repeating: "shiftPressed", count: count))
  }
}

/// A connection to a daemon, for any bytes that a test sends.
final class RawClient {
  let descriptor: Int32
  private var received: [UInt8] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(withSocketAddress(path) { connect(descriptor, $0, $1) } == 0)
  }

  deinit { close(descriptor) }

  /// Sends as many of the bytes as the daemon accepts.
  ///
  /// - Returns: the number of bytes sent.
  @discardableResult
  func send(_ bytes: some Sequence<UInt8>) -> Int {
    let bytes = Array(bytes)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { break }
      done += count
    }
    return done
  }

  func send(_ text: String) { send(text.utf8) }

  func call(_ method: String, _ parameters: JSON = [:], more: Bool = false) throws {
    let call: JSON = ["method": .string(method), "parameters": parameters, "more": .bool(more)]
    send(call.text + "\u{0}")
  }

  /// The next message; `nil` at the end of the connection.
  func message() throws -> String? {
    while true {
      if let end = received.firstIndex(of: 0) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      try awaitInput(descriptor, "a message")
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      received += buffer.prefix(count)
    }
  }

  /// Subscribes, and reads the first reply.
  func subscribe() throws {
    try call("org.keymoded.Controller.Monitor", more: true)
    _ = try reply()
  }

  func reply() throws -> JSON {
    try JSON(parsing: try #require(try message(), "the connection ended").utf8)
  }

  /// Makes a call, and returns the parameters of the reply, which must not be an error.
  func result(_ method: String, _ parameters: JSON = [:]) throws -> JSON {
    try call(method, parameters)
    let reply = try reply()
    try #require(reply["error"] == nil)
    return try #require(reply["parameters"])
  }

  /// Sends events, each of which must change a state.
  func trigger(_ events: [String]) throws {
    for event in events {
      let result = try result("org.keymoded.Controller.Trigger", ["event": .string(event)])
      try #require(result["changed"] == true, "\(event) changes nothing")
    }
  }

  /// The sequences of the next changes, at least `count`; none may be missed.
  func sequences(_ count: Int) throws -> [Int64] {
    var numbers: [Int64] = []
    while numbers.count < count {
      let reply = try reply()
      #expect(reply["parameters"]?["missed"] == 0)
      numbers += (reply["parameters"]?["changes"]?.array ?? []).compactMap {
        $0["sequence"]?.integer
      }
    }
    return numbers
  }
}
