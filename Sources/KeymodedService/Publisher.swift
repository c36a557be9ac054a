import JSON
import KeymodeInterface
import Varlink

/// Sends subscribers the changes.
///
/// A subscriber is a position in the sequence of changes. While its session has unsent bytes, its
/// position stands still; when it reads again it gets the changes since, or the number that it missed.
final class Publisher {
  /// How many changes of a message are written at once. The next ones are written when these have
  /// been sent, so that a subscriber that does not read keeps no more of the message.
  static let changesAtOnce: Int64 = 32

  private let engine: Engine
  private let source: any InputSource

  /// In the order of subscription, which is the order in which they are sent a change.
  private var subscribers: [Session] = []

  /// How often a client was told that it had missed changes.
  private(set) var missed = 0

  /// The last message. Most subscribers are at the same change and get the same bytes.
  private var last = (
    after: Int64.min, latest: Int64.min, isNotice: false, reaching: SubscriberPosition(sequence: 0)
  )

  /// The bytes of that message. The next one uses their memory again, once they have been sent.
  private var lastBytes: [UInt8] = []

  init(_ engine: Engine, _ source: any InputSource) {
    self.engine = engine
    self.source = source
  }

  // MARK: Subscribers

  /// Adds a session that has become a subscriber.
  func add(_ session: Session) { subscribers.append(session) }

  /// Removes a session, if it is a subscriber.
  func remove(_ session: Session) { subscribers.removeAll { $0 === session } }

  /// Sends all subscribers the changes that they have not been sent.
  func publish() {
    for session in subscribers {
      publish(to: session)
      if session.isClosed { session.hangUp() }
    }
  }

  /// Sends a subscriber the changes that it has not been sent, until it has to wait.
  func publish(to session: Session) {
    while var position = session.awaitedPosition, let bytes = next(for: &position) {
      session.send(bytes, reaching: position)
    }
    session.settle()
  }

  // MARK: Messages

  /// The position of a new subscriber that knows the sequence `instance` up to change `after`, or
  /// nothing.
  ///
  /// - Returns: the position and the first message; `nil` if the message is the one of
  ///   ``next(for:)``.
  /// - Throws: ``VarlinkError/invalidParameter(_:)`` if only one of the two is given, or the sequence
  ///   has no such change.
  func subscribe(
    after: Int64?, instance: String?
  ) throws(VarlinkError) -> (MonitorMessage?, SubscriberPosition) {
    let ring = engine.ring
    let state = engine.state(at: source.now)
    let latest = SubscriberPosition(sequence: ring.latest)
    switch (after, instance) {
    case (nil, nil): break
    case (nil, .some): throw .invalidParameter("after")
    case (.some, nil): throw .invalidParameter("instance")
    case (.some, .some(let instance)) where instance != engine.instance:
      missed += 1
      return (MonitorMessage(state: state, changes: [], missed: nil), latest)
    case (.some(let after), .some):
      guard 0...ring.latest ~= after else { throw .invalidParameter("after") }
      guard after < ring.latest else { break }
      // The last message has the time at which it was written, so this subscriber gets a new one.
      last.after = .min
      return (nil, SubscriberPosition(sequence: after))
    }
    return (MonitorMessage(state: state, changes: [], missed: 0), latest)
  }

  /// The bytes to send to a subscriber now: a message, or the next part of one with many changes.
  ///
  /// - Parameter position: the subscriber's position; afterwards, the position that these bytes
  ///   reach.
  /// - Returns: `nil` if there is nothing new.
  func next(for position: inout SubscriberPosition) -> [UInt8]? {
    if let end = position.endOfMessage { return rest(upTo: end, for: &position) }
    guard position.sequence < engine.ring.latest else { return nil }
    if last.after != position.sequence || last.latest != engine.ring.latest {
      write(messageAfter: position.sequence)
    }
    if last.isNotice { missed += 1 }
    position = last.reaching
    return lastBytes
  }

  private func write(messageAfter sequence: Int64) {
    // Taken out, so that only clients that have yet to send these bytes share them.
    var bytes: [UInt8] = []
    swap(&bytes, &lastBytes)
    bytes.removeAll(keepingCapacity: true)
    let state = engine.state(at: source.now)
    let latest = engine.ring.latest
    let changes = engine.ring.last(after: sequence)
    let reaching = append(to: &bytes) { json in
      Reply.startContinuing(&json)
      MonitorMessage.start(state, &json)
      return write(changes, after: sequence, upTo: latest, &json)
    }
    swap(&bytes, &lastBytes)
    last = (sequence, latest, changes == nil, reaching)
  }

  /// The next part of a message that ends with change number `end`. If the ring has lost the changes
  /// that were to follow, the message ends with their number.
  private func rest(upTo end: Int64, for position: inout SubscriberPosition) -> [UInt8] {
    var bytes: [UInt8] = []
    let changes = engine.ring.last(after: position.sequence)
    if changes == nil { missed += 1 }
    position = append(to: &bytes, isFirst: false) { json in
      write(changes, after: position.sequence, upTo: end, &json)
    }
    return bytes
  }

  /// Appends what `body` writes, and a NUL if it reaches the end of the message.
  private func append(
    to bytes: inout [UInt8], isFirst: Bool = true,
    _ body: (inout JSONWriter) -> SubscriberPosition
  ) -> SubscriberPosition {
    var reaching = SubscriberPosition(sequence: 0)
    bytes.appendJSON(isFirst: isFirst) { reaching = body(&$0) }
    if reaching.endOfMessage == nil { bytes.append(0) }
    return reaching
  }

  /// Writes some changes of a message, and its end if they are the last; only the end if they are
  /// lost. Returns the position that is reached.
  private func write(
    _ changes: ChangeRing.Last?, after sequence: Int64, upTo end: Int64, _ json: inout JSONWriter
  ) -> SubscriberPosition {
    let part = changes?.first(upTo: end, atMost: Self.changesAtOnce)
    if let part {
      for change in part { change.write(to: &json) }
      guard part.end == end else {
        return SubscriberPosition(sequence: part.end, endOfMessage: end)
      }
    }
    MonitorMessage.end(part == nil ? end - sequence : 0, &json)
    Reply.endContinuing(&json)
    return SubscriberPosition(sequence: end)
  }
}
