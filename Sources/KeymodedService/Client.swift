import Glibc
import SystemCalls
import Systemd
import Varlink

/// One connection, served without ever waiting for it.
///
/// At most one message at a time is kept for a client that does not read, and of a long one about changes
/// only a part. A subscriber's position in the sequence of changes stands still meanwhile, and catches up,
/// or learns how much it missed, when it reads again.
final class Client {
  /// The longest message that a client may send.
  static let messageLimit = 65536

  /// How many bytes of calls are answered before other clients have their turn.
  private static let bytesInTurn = 1024

  private let descriptor: FileDescriptor
  private let access: Access
  private let methods: ControllerMethods
  private let service: ModeService
  private let closed: () -> Void
  private var source: EventSource?
  private var awaited: IOEvents = .readable
  private var turn = EventSource.Turn.usual

  private var incoming = FrameBuffer(limit: messageLimit)
  private var isInputEnded = false
  private var outgoing: ArraySlice<UInt8> = []
  private var isOutputEnded = false
  private var isEnding = false

  /// How far a subscriber has been told.
  private var subscription: SubscriberPosition?

  /// - Parameter closed: is called once, when the connection is to be let go.
  init(
    _ descriptor: consuming FileDescriptor, access: Access, loop: EventLoop,
    methods: ControllerMethods, service: ModeService, closed: @escaping () -> Void
  ) throws(SystemError) {
    let number = descriptor.number
    self.descriptor = descriptor
    self.access = access
    self.methods = methods
    self.service = service
    self.closed = closed
    source = try loop.addIO(number, .readable) { [unowned self] events in handle(events) }
    takeTurn()
  }

  /// Sends a subscriber the changes that it does not have, unless it has yet to read earlier ones.
  func publish() {
    pump()
    settle()
  }
}

// MARK: - Turning events into work

extension Client {
  private func handle(_ events: IOEvents) {
    let isGone = !events.isDisjoint(with: [.hangUp, .failure])
    if isGone || events.contains(.writable) { flush() }
    // Whoever has gone, with our replies read or not, can still have sent calls that want none. A
    // subscriber's are not read any more.
    if isGone, subscription != nil { isEnding = true }
    if events.contains(.readable) { receive() }
    answerCalls()
    pump()
    settle()
  }

  private func receive() {
    let number = descriptor.number
    let result: Result<ReadResult, SystemError> = withUnsafeTemporaryAllocation(
      byteCount: 4096, alignment: 1
    ) { buffer in
      Result { () throws(SystemError) in
        let result = try readSome(from: number, into: buffer)
        if case .bytes(let count) = result {
          incoming.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return result
      }
    }
    switch result {
    case .success(.bytes), .success(.wouldBlock): break
    case .success(.end), .failure: isInputEnded = true
    }
  }

  /// Answers what has arrived, one call at a time: the next one waits until the reply to the one
  /// before has left, or for ever behind a stream. A client that asks without reading thus fills its
  /// own socket and nothing here. However many calls came at once, others have their turn soon.
  private func answerCalls() {
    var bytes = 0
    while bytes < Self.bytesInTurn, !isEnding, subscription == nil, outgoing.isEmpty {
      do {
        guard let message = try incoming.next() else { break }
        bytes += message.count
        answer(try Call(parsing: message))
      } catch Call.Fault.member(let name) {
        send(Reply(VarlinkError.invalidParameter(name)).message)
        isEnding = true
      } catch {
        // Varlink has no error for a message that is too long or no JSON.
        isEnding = true
      }
    }
  }

  private func answer(_ call: Call) {
    switch methods.answer(call, access: access) {
    case .reply(let reply):
      if !call.isOneway { send(reply.message) }
    case .written(let message):
      if !call.isOneway { send(message) }
    case .stream(let first, let position):
      guard !call.isOneway else { return }
      subscription = position
      if let first { send(first) }
    }
  }

  private func pump() {
    while var position = subscription, outgoing.isEmpty, !isOutputEnded, !isEnding {
      guard let bytes = service.next(for: &position) else { return }
      subscription = position
      send(bytes)
    }
  }

  /// Decides what to wait for next, or ends.
  private func settle() {
    guard let source else { return }
    if subscription != nil {
      if isOutputEnded { isEnding = true }
    } else if isInputEnded, outgoing.isEmpty, !incoming.hasMessage {
      isEnding = true
    }
    if isEnding, outgoing.isEmpty {
      self.source = nil
      closed()
      return
    }
    let events: IOEvents
    if !outgoing.isEmpty {
      events = .writable
    } else if subscription != nil {
      events = []
    } else {
      // To wait for room is to have the next turn.
      events = incoming.hasMessage ? .writable : .readable
    }
    takeTurn()
    guard events != awaited else { return }
    awaited = events
    source.wait(for: events)
  }

  /// Many who only want to know do not delay those who may act; but of those, whoever sent much at
  /// once waits with all others for the next part of it.
  private func takeTurn() {
    let next: EventSource.Turn =
      access == .control && !incoming.hasMessage ? .early : .usual
    guard next != turn else { return }
    turn = next
    source?.take(next)
  }
}

// MARK: - Sending

extension Client {
  private func send(_ message: [UInt8]) {
    guard !isOutputEnded else { return }
    outgoing = message[...]
    flush()
  }

  private func flush() {
    while !outgoing.isEmpty {
      let count = outgoing.withUnsafeBytes { bytes in
        Glibc.send(
          descriptor.number, bytes.baseAddress, bytes.count,
          Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count >= 0 {
        outgoing = outgoing.dropFirst(count)
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        isOutputEnded = true
        break
      }
    }
    // The bytes belong to all subscribers; whoever has them sent holds on to none.
    outgoing = []
  }
}
