import Foundation
import Testing

/// A daemon that withholds its reply until the test is over or a time limit has passed. Then it
/// replies, so that a program that waits without a limit ends too, but with another status.
final class SilentDaemon {
  /// How the daemon withholds its reply.
  enum Manner: CaseIterable, CustomTestStringConvertible {
    case letsNobodyIn, saysNothing, saysHalf, trickles

    var testDescription: String { "\(self)" }
  }

  private let done = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - reply: the reply that it withholds, without NUL.
  ///   - limit: the seconds after which it replies.
  init(at path: String, _ manner: Manner, _ reply: String, limit: Double = 60) throws {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(withSocketAddress(path) { bind(listener, $0, $1) } == 0)
    try #require(listen(listener, 0) == 0)
    var others: [Int32] = []
    if manner == .letsNobodyIn {
      let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
      while others.count < 100 {
        others.append(socket(AF_UNIX, type, 0))
        let last = try #require(others.last)
        if withSocketAddress(path, { connect(last, $0, $1) }) != 0 { break }
      }
      try #require(errno == EAGAIN, "the queue is full")
    }
    let (done, waiting) = (done, others)
    let bytes = Array(reply.utf8) + [0]
    Thread {
      defer { for descriptor in waiting + [listener] { close(descriptor) } }
      let limit = DispatchTime.now() + limit
      if manner == .letsNobodyIn {
        _ = done.wait(timeout: limit)
        return
      }
      let client = accept(listener, nil, nil)
      defer { close(client) }
      var call = [UInt8](repeating: 0, count: 4096)
      _ = recv(client, &call, call.count, 0)
      let half = manner == .saysHalf ? bytes.count / 2 : 0
      _ = send(client, bytes, half, Int32(MSG_NOSIGNAL))
      if manner == .trickles {
        // JSON may begin with spaces.
        var space = UInt8(ascii: " ")
        while done.wait(timeout: .now() + .milliseconds(10)) == .timedOut,
          DispatchTime.now() < limit,
          send(client, &space, 1, Int32(MSG_NOSIGNAL)) == 1
        {}
      } else {
        _ = done.wait(timeout: limit)
      }
      _ = bytes[half...].withUnsafeBytes {
        send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
    }.start()
  }

  deinit { done.signal() }
}
