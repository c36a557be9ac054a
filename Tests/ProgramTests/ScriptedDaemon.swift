import Foundation
import JSON
import Synchronization
import Testing

/// A daemon with given answers to each method, on both sockets, for one client at a time.
final class ScriptedDaemon {
  let folder: String
  private let listeners: [Int32]
  private let received = Received()

  /// The messages that clients sent, without NUL, and incomplete ones when their client has gone.
  var calls: [String] { received.calls.withLock { $0 } }

  private final class Received: Sendable {
    let calls = Mutex([String]())

    func add(_ call: some Sequence<UInt8>) {
      let text = String(decoding: Array(call), as: UTF8.self)
      calls.withLock { $0.append(text) }
    }
  }

  /// - Parameters:
  ///   - answers: the replies to a call, without NUL, by the name of the method.
  ///   - staysAfterMonitor: whether a connection stays open after the answers to `Monitor`.
  init(in folder: String, _ answers: [String: [String]], staysAfterMonitor: Bool = false) throws {
    self.folder = folder
    listeners = try ["state", "control"].map { name in
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      try #require(withSocketAddress("\(folder)/\(name).sock") { bind(listener, $0, $1) } == 0)
      try #require(listen(listener, 8) == 0)
      return listener
    }
    let calls = received
    for listener in listeners {
      Thread {
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0 else { break }
          Self.serve(client, answers, staysAfterMonitor, calls)
          close(client)
        }
        close(listener)
      }.start()
    }
  }

  deinit {
    for listener in listeners { shutdown(listener, Int32(SHUT_RDWR)) }
  }

  private static func serve(
    _ client: Int32, _ answers: [String: [String]], _ staysAfterMonitor: Bool, _ all: Received
  ) {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    // An incomplete message is stored too.
    defer {
      if !received.isEmpty { all.add(received) }
    }
    while true {
      while let end = received.firstIndex(of: 0) {
        all.add(received[..<end])
        let call = try? JSON(parsing: received[..<end])
        received.removeSubrange(...end)
        let method = call?["method"]?.string?.split(separator: ".").last.map(String.init) ?? ""
        guard let messages = answers[method] else { return }
        for message in messages {
          let bytes = Array(message.utf8) + [0]
          guard send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return }
        }
        if method == "Monitor", !staysAfterMonitor { return }
      }
      let count = recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      received += buffer.prefix(count)
    }
  }
}
