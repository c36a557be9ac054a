import Foundation
import TestSupport
import Testing
import Wire

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

/// Calls as clients send them, with the NUL at their end.
enum RawCall {
  static let getState = #"{"method":"org.keymoded.Controller.GetState"}"# + "\u{0}"
  static let monitor = #"{"method":"org.keymoded.Controller.Monitor","more":true}"# + "\u{0}"
  /// Changes the state of Shift, and gets no reply.
  static let shiftPressed =
    #"{"method":"org.keymoded.Controller.Trigger","parameters":{"event":"shiftPressed"},"#
    + "\"oneway\":true}\u{0}"
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
