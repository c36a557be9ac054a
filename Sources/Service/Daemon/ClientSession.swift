import Glibc
import System
import Terminal
import Wire

/// One connection: receives calls and sends replies, without ever waiting for the client.
///
///     answering ── Monitor ──> streaming ── the client is gone ──┐
///         │ its calls end          ^                             v
///         v                        │                          closing ── all bytes sent ──> closed
///     finishing ── Monitor ────────┘                             ^
///         └──────────── all calls answered ──────────────────────┘
///
/// While a session answers or finishes, a bad or too long call leads to closing, too.
///
/// For a client that does not read, a session keeps at most one message, or one part of a message
/// with many changes. The next call waits until the previous reply has been sent: a client that
/// calls without reading fills only its own socket.
final class ClientSession {
  /// What the session is doing.
  private enum Activity {
    /// Answers calls as they arrive.
    case answering
    /// Answers the calls that have arrived. No more calls can come.
    case finishing
    /// Sends a subscriber the changes after this position. Reads no more calls.
    case streaming(SubscriberPosition)
    /// Sends the last reply.
    case closing
    /// The connection is over, and the server may remove the session.
    case closed
  }

  /// The maximum length of a message that a client may send, in bytes.
  static let maxMessageBytes = 65536

  let access: Access
  private let descriptor: FileDescriptor
  private var source: EventSource?
  private var awaitedEvents: IOEvents = .readable

  // Unchecked for speed: see `EventLoop`.
  @exclusivity(unchecked) private var activity = Activity.answering
  private var incoming = FrameBuffer(limit: maxMessageBytes)
  @exclusivity(unchecked) private var unsent: ArraySlice<UInt8> = []
  /// Whether the client cannot receive any more. Calls that it sent before still take effect.
  private var isOutputBroken = false
  /// Whether a whole call has ever come.
  private(set) var hasCalled = false

  /// - Parameter ready: called from the loop with the socket's events; must call ``handle(_:)``.
  /// - Throws: if the loop refuses the descriptor.
  init(
    _ descriptor: consuming FileDescriptor, access: Access, loop: EventLoop,
    ready: @escaping (ClientSession, IOEvents) -> Void
  ) throws(SystemError) {
    let number = descriptor.number
    self.descriptor = descriptor
    self.access = access
    // Unowned: the session owns the source, and outlives every call.
    source = try loop.addIO(number, .readable) { [unowned self] events in ready(self, events) }
    setPriority()
  }

  // The loop must not watch a closed descriptor.
  deinit { source?.end() }

  /// Whether the connection has ended.
  var isClosed: Bool { if case .closed = activity { true } else { false } }

  /// Sends and receives what is possible now.
  func handle(_ events: IOEvents) {
    let isGone = !events.isDisjoint(with: [.hangUp, .failure])
    if isGone || events.contains(.writable) { flush() }
    // A client that has gone may have sent oneway calls before, so they are read. A subscriber's
    // calls are not read.
    if isGone, case .streaming = activity { activity = .closing }
    if events.contains(.readable) { receive() }
  }

  /// Decides which events the session waits for, or that the session is closed. Call this after
  /// sending bytes or taking a message.
  func updateAwaitedEvents() {
    switch activity {
    case .streaming where isOutputBroken: activity = .closing
    case .finishing where unsent.isEmpty && !incoming.hasMessage: activity = .closing
    default: break
    }
    if case .closing = activity, unsent.isEmpty { activity = .closed }
    setPriority()
    let events = eventsToAwait
    guard events != awaitedEvents else { return }
    awaitedEvents = events
    source?.wait(for: events)
  }

  /// Makes the loop call the server, which lets a closed session go. Without this, a client that
  /// stays but has shut down reading causes no event.
  func hangUp() { shutdown(descriptor.number, Int32(SHUT_RDWR)) }

  private var eventsToAwait: IOEvents {
    guard unsent.isEmpty else { return .writable }
    switch activity {
    case .streaming: return []
    case .closing, .closed: return awaitedEvents
    // The socket is writable, so the loop calls at once for a message that has arrived already.
    case .answering, .finishing: return incoming.hasMessage ? .writable : .readable
    }
  }

  /// Clients of the control socket come first. A client that sent several calls at once waits with
  /// all others for its next turn.
  private func setPriority() {
    guard access == .control else { return }
    source?.setPriority(incoming.hasMessage ? .usual : .early)
  }
}

// MARK: - Messages

extension ClientSession {
  /// Removes and returns the next message, if the session is free to answer it. A message that is
  /// too long ends the session: Varlink has no error for it.
  func nextMessage() -> [UInt8]? {
    switch activity {
    case .answering, .finishing: break
    case .streaming, .closing, .closed: return nil
    }
    guard unsent.isEmpty else { return nil }
    do throws(FrameBuffer.TooLong) {
      let message = try incoming.next()
      if message != nil { hasCalled = true }
      return message
    } catch {
      activity = .closing
      return nil
    }
  }

  private func receive() {
    do throws(SystemError) {
      switch try readSome(from: descriptor.number, upTo: 4096, { incoming.append($0) }) {
      case .bytes, .wouldBlock: return
      case .end: break
      }
    } catch {
      // The client has gone; the calls that have arrived still count.
    }
    if case .answering = activity { activity = .finishing }
  }
}

// MARK: - Replies

extension ClientSession {
  /// Sends a reply, and keeps the bytes that the socket has no room for. The caller makes sure
  /// that no earlier bytes are unsent.
  func send(_ message: [UInt8]) {
    guard !isOutputBroken else { return }
    unsent = message[...]
    flush()
  }

  /// Sends a last reply, if there is one, and ends the conversation.
  func close(with message: [UInt8]?) {
    if let message { send(message) }
    activity = .closing
  }

  /// Makes the session a subscriber at `position`.
  func stream(from position: SubscriberPosition) { activity = .streaming(position) }

  /// The position of a subscriber that is free for the next message; `nil` otherwise.
  var positionIfReady: SubscriberPosition? {
    guard case .streaming(let position) = activity, unsent.isEmpty, !isOutputBroken else {
      return nil
    }
    return position
  }

  private func flush() {
    do throws(SystemError) {
      guard try sendSome(&unsent, to: descriptor.number) else { return }
    } catch {
      isOutputBroken = true
    }
    // All subscribers may share this memory: a session must not keep it alive.
    unsent = []
  }
}
