import Glibc

/// An answer that the daemon has not given yet.
///
/// Wait until ``descriptor`` is readable, then call ``advance()``; repeat this until it returns the
/// answer, or throws. After the answer, ``ask(until:)`` sends the same request again.
package final class PendingAnswer<Answer> {
  private let request: Request<Answer>
  private let connection: Connection
  private var deadline: SuspendingClock.Instant
  private let wakeup: Wakeup

  /// Readable when there is something to do: a part of the answer has arrived, or the deadline has
  /// passed.
  package var descriptor: Int32 { wakeup.descriptor }

  /// Sends a request, on a connection of its own.
  ///
  /// - Parameters:
  ///   - directory: the directory of the daemon's sockets.
  ///   - deadline: when waiting ends with ``ClientError/noAnswer(path:)``, by default in 5 seconds.
  /// - Throws: ``ClientError`` if the daemon is not there or may not be used.
  package init(
    to request: Request<Answer>, in directory: String,
    until deadline: SuspendingClock.Instant = .now.advanced(by: Client.defaultTimeout)
  ) throws(ClientError) {
    let connection = try Connection.to(request.endpoint, in: directory)
    wakeup = try Wakeup()
    (self.request, self.connection, self.deadline) = (request, connection, deadline)
    try ask(until: deadline)
  }

  /// Sends the request again after an answer, on the same connection.
  package func ask(until deadline: SuspendingClock.Instant) throws(ClientError) {
    self.deadline = deadline
    try connection.send(request.call)
    try wakeup.wait(for: connection.descriptor, until: deadline)
  }

  /// The answer; `nil` if there is none yet. After the answer or an error, the descriptor is not
  /// readable any more.
  ///
  /// - Throws: ``ClientError`` if no answer will come.
  package func advance() throws(ClientError) -> Answer? {
    var isOver = true
    defer { if isOver { wakeup.stop() } }
    try connection.read()
    if let reply = try connection.nextReply() { return try request.readAnswer(reply) }
    // Checked last, because an answer that has come in time may be read late.
    if deadline <= .now { throw .noAnswer(path: connection.path) }
    isOver = false
    return nil
  }

  /// Waits for the answer.
  package func wait() throws(ClientError) -> Answer {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, -1)
      if let answer = try advance() { return answer }
    }
  }
}
