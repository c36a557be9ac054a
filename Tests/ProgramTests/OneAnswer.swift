import Foundation
import TestSupport
import Testing

/// A daemon that answers its first call, whatever it is, and then ends.
final class OneAnswer {
  private let thread: Thread
  private let done = DispatchSemaphore(value: 0)

  init(at path: String, _ answer: String) throws {
    unlink(path)
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(withSocketAddress(path) { bind(listener, $0, $1) } == 0)
    try #require(listen(listener, 1) == 0)
    let done = done
    thread = Thread {
      let client = accept(listener, nil, nil)
      var call = [UInt8](repeating: 0, count: 4096)
      _ = recv(client, &call, call.count, 0)
      _ = answer.withCString { send(client, $0, answer.utf8.count, Int32(MSG_NOSIGNAL)) }
      close(client)
      close(listener)
      done.signal()
    }
    thread.start()
  }

  /// Waits until the daemon has answered.
  func end() throws {
    try #require(done.wait(timeout: .now() + .seconds(boundSeconds)) == .success)
  }
}
