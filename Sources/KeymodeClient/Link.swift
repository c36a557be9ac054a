import Glibc
import JSON
import KeymodeInterface
import SystemCalls
import Varlink

/// A connection to the daemon whose calls suspend the calling task and block no thread.
///
/// The connection closes when the link is released.
final class Link {
  private let descriptor: FileDescriptor
  private let path: String
  private var incoming = FrameBuffer(limit: 1 << 24)

  /// When waiting ends with ``ClientError/noAnswer(path:)``; `nil`: never. At first this is
  /// ``Connection/usualPatience`` after connecting.
  var deadline: ContinuousClock.Instant?

  /// Connects to the daemon that serves in `directory`.
  init(_ endpoint: Connection.Endpoint, in directory: String) throws(ClientError) {
    path = endpoint.path(in: directory)
    descriptor = try Connection.open(path, isNonblocking: true)
    deadline = .now.advanced(by: Connection.usualPatience)
  }

  /// Connects for reading: through the control socket if this user may use only that one.
  static func reading(in directory: String) throws(ClientError) -> Link {
    do throws(ClientError) {
      return try Link(.state, in: directory)
    } catch {
      guard case .permissionDenied = error, let link = try? Link(.control, in: directory)
      else { throw error }
      return link
    }
  }

  /// Sends a call.
  nonisolated(nonsending) func send(_ call: Call) async throws(ClientError) {
    var rest = call.message[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        rest.removeFirst(count)
      } else if errno == EAGAIN {
        try await suspend { poller throws(SystemError) in
          try await poller.wait(toWrite: descriptor.number, until: deadline)
        }
      } else if errno != EINTR {
        // The daemon has closed the connection. If it sent an error before, `receive` throws that.
        return
      }
    }
  }

  /// Waits for the next reply.
  nonisolated(nonsending) func receive() async throws(ClientError) -> JSON {
    while true {
      if let message = try nextMessage() { return try Connection.parameters(of: message) }
      var chunk = [UInt8](repeating: 0, count: 16384)
      let result: Result<ReadResult, SystemError> = chunk.withUnsafeMutableBytes { bytes in
        Result { () throws(SystemError) in try readSome(from: descriptor.number, into: bytes) }
      }
      switch result {
      case .success(.bytes(let count)):
        chunk.withUnsafeBytes { incoming.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      case .success(.wouldBlock):
        try await suspend { poller throws(SystemError) in
          try await poller.wait(toRead: descriptor.number, until: deadline)
        }
      case .success(.end), .failure: throw .connectionLost
      }
    }
  }

  private func nextMessage() throws(ClientError) -> [UInt8]? {
    do { return try incoming.next() } catch { throw .badReply("with a message that is too long") }
  }

  private nonisolated(nonsending) func suspend(
    _ wait: nonisolated(nonsending) (Poller) async throws(SystemError) -> Poller.Outcome
  ) async throws(ClientError) {
    // Checked here too: while a reply arrives byte by byte, no single wait times out.
    if let deadline, deadline <= .now { throw .noAnswer(path: path) }
    let outcome: Poller.Outcome
    do { outcome = try await wait(.shared) } catch { throw .failed("\(error)") }
    switch outcome {
    case .ready: return
    case .timedOut: throw .noAnswer(path: path)
    case .cancelled: throw .cancelled
    }
  }
}
