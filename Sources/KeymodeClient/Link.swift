import Glibc

/// A connection to the daemon whose calls suspend the calling task and block no thread.
///
/// The connection closes when the link is released.
final class Link {
  private var socket: DaemonSocket

  /// When waiting ends with ``ClientError/noAnswer(path:)``; `nil`: never. At first this is
  /// ``Connection/usualPatience`` after connecting.
  var deadline: ContinuousClock.Instant?

  /// Connects to the daemon that serves in `directory`.
  init(_ endpoint: Connection.Endpoint, in directory: String) throws(ClientError) {
    socket = try DaemonSocket(endpoint, in: directory, mayWait: false)
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

  /// Sends a request, and waits for its answer.
  func ask<Answer>(
    _ request: Request<Answer>, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> Answer {
    var rest = request.call.message[...]
    while socket.send(&rest) == .wouldBlock { try await wait(for: POLLOUT) }
    return try await next(request)
  }

  /// Waits for the next answer to a request that was sent.
  func next<Answer>(
    _ request: Request<Answer>, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> Answer {
    while true {
      if let reply = try socket.nextReply() { return try request.answer(reply) }
      if try socket.read() == .wouldBlock { try await wait(for: POLLIN) }
    }
  }

  /// Waits until `poll` reports one of these events.
  private func wait(
    for events: Int32, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) {
    // Checked here too: while a reply arrives byte by byte, no single wait times out.
    if let deadline, deadline <= .now { throw .noAnswer(path: socket.path) }
    let result: Poller.WaitResult
    do {
      result = try await Poller.shared.wait(for: Int16(events), on: socket.number, until: deadline)
    } catch {
      throw .failed("\(error)")
    }
    switch result {
    case .ready: return
    case .timedOut: throw .noAnswer(path: socket.path)
    case .cancelled: throw .cancelled
    }
  }
}
