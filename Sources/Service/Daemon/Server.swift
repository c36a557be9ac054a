import Glibc
import System
import Terminal
import Wire

/// Accepts connections, and answers their calls.
final class Server {
  /// The maximum number of clients that are served at once.
  private static let maxSessions = 512

  /// How many of the ``maxSessions`` are reserved for the control socket.
  private static let reservedForControl = 16

  /// Memory is released when three quarters of the clients have gone, if there were at least this
  /// many. Releasing takes time, so one client that comes and goes must not cause it.
  private static let minPeakToRelease = 32

  /// How many bytes of a client's calls are answered before other clients have their turn.
  private static let bytesPerTurn = 1024

  /// How many new connections are accepted before a client that has called has its turn.
  private static let connectionsPerTurn = 8

  private let loop: EventLoop
  private let callHandler: CallHandler
  private let publisher: Publisher
  private var listeners: [(socket: ListeningSocket, source: EventSource)] = []
  private var sessions: [ClientSession] = []
  /// The most clients at once since memory was last released.
  private var peakSessions = 0
  private var retryTimer: EventSource?

  init(
    _ loop: EventLoop, _ callHandler: CallHandler, _ publisher: Publisher
  ) throws(SystemError) {
    self.loop = loop
    self.callHandler = callHandler
    self.publisher = publisher
    // Unowned, as in all handlers here: the server owns their sources, and outlives every call.
    retryTimer = try loop.addTimer { [unowned self] in resumeAccepting() }
  }

  /// Serves the clients that connect to `socket`.
  func listen(on socket: ListeningSocket) throws(SystemError) {
    let source = try loop.addIO(socket.number, .readable) { [unowned self] _ in
      acceptSome(from: socket)
    }
    listeners.append((socket, source))
    preferNewClients()
  }

  /// Makes the loop accept new clients before the next call is answered: clients with many calls
  /// must not block new clients.
  private func preferNewClients() {
    for listener in listeners {
      // The control socket comes first: HangUp can then end waiting readers before they are served.
      listener.source.setPriority(listener.socket.access == .control ? .earlier : .early)
    }
  }

  // MARK: Sessions

  /// Handles the events of a session's socket, and answers the session's calls.
  ///
  /// - Parameter limit: stops once the answered calls have this many bytes; answers at least one.
  private func serve(_ session: ClientSession, _ events: IOEvents, upTo limit: Int = bytesPerTurn) {
    preferNewClients()
    session.handle(events)
    var bytes = 0
    while bytes < limit, let message = session.nextMessage() {
      bytes += message.count
      do throws(Call.ParsingError) {
        answer(try Call(parsing: message), session)
      } catch {
        switch error {
        // Varlink has no error for a message that is not JSON.
        case .notJSON: session.close(with: nil)
        case .invalidMember(let name):
          session.close(with: Reply(VarlinkError.invalidParameter(name)).message)
        }
      }
    }
    finishTurn(of: session)
  }

  /// Sends the new changes if the session is a subscriber, updates what the session waits for, and
  /// removes the session if it is closed.
  private func finishTurn(of session: ClientSession) {
    publisher.publish(to: session)
    session.updateAwaitedEvents()
    if session.isClosed { removeSessions { $0 === session } }
  }

  private func answer(_ call: Call, _ session: ClientSession) {
    let answer = callHandler.answer(call, access: session.access, clients: sessions.count)
    if case .hangUp = answer {
      endReaders()
      callHandler.forgetChanges()
    }
    guard !call.isOneway else { return }
    switch answer {
    case .reply(let message): session.send(message)
    case .hangUp: session.send(Reply([:]).message)
    case .stream(let first, let position):
      publisher.add(session, from: position)
      if let first { session.send(first) }
    }
  }

  /// Ends every connection for reading, including connections that have not been accepted yet.
  private func endReaders() {
    removeSessions { $0.access == .reading }
    for listener in listeners where listener.socket.access == .reading {
      // The backlog holds fewer connections. The limit ends the loop even if clients keep
      // connecting.
      for _ in 0..<65536 {
        let number = accept(listener.socket.number, nil, nil)
        if number >= 0 { close(number) } else if errno == EAGAIN { break }
      }
    }
  }

  private func removeSessions(where isMeant: (ClientSession) -> Bool) {
    for session in sessions where isMeant(session) { publisher.remove(session) }
    sessions.removeAll(where: isMeant)
    // The ended sessions have freed descriptors, which waiting clients can use.
    resumeAccepting()
    if peakSessions >= Self.minPeakToRelease, sessions.count <= peakSessions / 4 {
      releaseMemory()
      peakSessions = sessions.count
    }
  }

  // MARK: Connections

  private func acceptSome(from socket: ListeningSocket) {
    for _ in 0..<Self.connectionsPerTurn {
      let number = accept(socket.number, nil, nil)
      guard number >= 0 else {
        switch errno {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: pauseAccepting()
        default: break  // no client waits, or it has gone again
        }
        break
      }
      admit(FileDescriptor(owning: number), socket.access)
    }
    // Now a client that has called has its turn, however fast other clients connect.
    for listener in listeners where listener.socket === socket {
      listener.source.setPriority(.usual)
    }
  }

  private func admit(_ descriptor: consuming FileDescriptor, _ access: Access) {
    let number = descriptor.number
    guard fcntl(number, F_SETFL, O_NONBLOCK) == 0, limitSendBuffer(of: number) else { return }
    let limit = Self.maxSessions - (access == .control ? 0 : Self.reservedForControl)
    if sessions.count >= limit, access == .reading { endSilentReader() }
    guard sessions.count < limit else { return turnAway(number) }
    let session = try? ClientSession(descriptor, access: access, loop: loop) {
      [unowned self] session, events in serve(session, events)
    }
    guard let session else { return }
    sessions.append(session)
    peakSessions = max(peakSessions, sessions.count)
    // Most clients have sent a call by now, and some have gone again.
    serve(session, .readable, upTo: 1)
  }

  private static let tooMany = Reply(error: ControllerInterface.tooManyClients).message

  /// Sends an error before the client's first call arrives: the client takes the error as the reply
  /// to that call. A new socket has room for the error.
  private func turnAway(_ socket: Int32) {
    var reply = Self.tooMany[...]
    _ = try? sendSome(&reply, to: socket)
  }

  /// Ends the oldest connection for reading that has never sent a call, if there is one, to make
  /// room for a new client: programs call at once. Connections that have called stay, however long
  /// they are idle, so that new clients cannot push others out.
  private func endSilentReader() {
    let silent = sessions.first { $0.access == .reading && !$0.hasCalled }
    silent?.close(with: Self.tooMany)
    if let silent { finishTurn(of: silent) }
  }

  /// Reduces the kernel's send buffer, because unread bytes in it count as the daemon's memory.
  /// Returns whether the kernel agreed.
  private func limitSendBuffer(of socket: Int32) -> Bool {
    var size: Int32 = 16384
    return setsockopt(
      socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// Accepts nothing for at most a second: while no descriptor is free, a waiting connection would
  /// wake the loop all the time.
  private func pauseAccepting() {
    for listener in listeners { listener.source.disable() }
    retryTimer?.set(after: .seconds(1))
  }

  private func resumeAccepting() {
    for listener in listeners { listener.source.enable() }
  }
}
