import KeyboardModes
import Wire

/// How far a subscriber is in the sequence of changes.
struct SubscriberPosition: Equatable {
  /// The number of the last change that was sent, reported as missed, or skipped.
  var sequence: Int64

  /// The machines whose changes are sent; `nil` for all.
  var machines: Set<MachineName>?

  /// The number of the last change of the partly sent message; `nil` between messages.
  var endOfMessage: Int64?

  /// The ``Engine/machineListRevision`` of the states that were sent last.
  var machineListRevision = 0
}

/// Sends subscribers the changes.
///
/// A subscriber is a session with a position in the sequence of changes. The position stands still
/// while the session has unsent bytes. Then the session is sent the later changes or, if the ring
/// has lost them, their number.
final class Publisher {
  /// How many changes of a message are written at once. The next changes follow once these have
  /// been sent: a subscriber that does not read must not fill the daemon's memory.
  static let changesPerPart: Int64 = 32

  /// A whole message, or a part of a message with many changes.
  private struct Part {
    /// The position of a subscriber before this part, and after it.
    let start, end: SubscriberPosition
    /// The number of the last change when the part was written.
    let lastSequence: Int64
    /// Whether the part reports missed changes.
    let reportsMissed: Bool
    let bytes: [UInt8]
  }

  private let engine: Engine
  private let source: any InputSource

  // Unchecked for speed: see `EventLoop`.
  /// The subscribers in the order of their subscription. They are sent each change in this order.
  @exclusivity(unchecked) private var subscribers: [ClientSession] = []

  /// How often a client was told that it had missed changes.
  private(set) var missed = 0

  /// Whether the engine's message may be sent. A new subscriber with changes to catch up makes this
  /// false: the message's time is before the subscription.
  private var isMessageCurrent = false

  /// The last message that the publisher itself wrote for all machines, or the first part of that
  /// message. Subscribers at the same position share it.
  @exclusivity(unchecked) private var sharedPart: Part?

  init(_ engine: Engine, _ source: any InputSource) {
    self.engine = engine
    self.source = source
  }

  // MARK: Subscribers

  /// Makes a session a subscriber at this position.
  func add(_ session: ClientSession, from position: SubscriberPosition) {
    session.stream(from: position)
    subscribers.append(session)
  }

  /// Removes a session, if it is a subscriber.
  func remove(_ session: ClientSession) { subscribers.removeAll { $0 === session } }

  /// Sends all subscribers the changes that they have not been sent.
  func publish() {
    (isMessageCurrent, sharedPart) = (true, nil)
    for session in subscribers {
      publish(to: session)
      session.updateAwaitedEvents()
      // This makes the loop call the server, which removes the session from this list.
      if session.isClosed { session.hangUp() }
    }
  }

  /// Sends a subscriber the changes that it has not been sent, until its socket is full.
  func publish(to session: ClientSession) {
    while var position = session.positionIfReady {
      guard let bytes = next(for: &position) else {
        // The position may have skipped changes of other machines.
        if position.machines != nil { session.stream(from: position) }
        break
      }
      session.stream(from: position)
      session.send(bytes)
    }
  }

  // MARK: Messages

  /// The position of a new subscriber that knows the sequence `instance` up to change `after`. A
  /// subscriber that knows no changes gives `nil` for both.
  ///
  /// - Parameter machines: the machines whose changes are sent; `nil` for all.
  /// - Returns: the first message, or `nil` if ``next(for:)`` writes it; and the position.
  /// - Throws: ``VarlinkError/invalidParameter(_:)`` if only one of `after` and `instance` is
  ///   given, or the sequence has no such change.
  func subscribe(
    after: Int64?, instance: String?, machines: Set<MachineName>? = nil
  ) throws(VarlinkError) -> (MonitorReply?, SubscriberPosition) {
    let ring = engine.ring
    let state = engine.stateMessage(at: source.now)
    let latest = SubscriberPosition(
      sequence: ring.lastSequence, machines: machines,
      machineListRevision: engine.machineListRevision)
    switch (after, instance) {
    case (nil, nil): break
    case (nil, .some): throw .invalidParameter("after")
    case (.some, nil): throw .invalidParameter("instance")
    case (.some, .some(let instance)) where instance != engine.instance:
      missed += 1
      return (MonitorReply(state: state, changes: [], missed: nil), latest)
    case (.some(let after), .some):
      guard 0...ring.lastSequence ~= after else { throw .invalidParameter("after") }
      var position = latest
      position.sequence = after
      skipOtherMachines(&position)
      guard position.sequence < ring.lastSequence else { break }
      // A message has the time of its writing, so this subscriber gets a new message.
      (isMessageCurrent, sharedPart) = (false, nil)
      return (nil, position)
    }
    return (MonitorReply(state: state, changes: [], missed: 0), latest)
  }

  /// The bytes to send to a subscriber now: a message, or the next part of a message with many
  /// changes.
  ///
  /// - Parameter position: the subscriber's position; afterwards, the position that these bytes
  ///   reach.
  /// - Returns: `nil` if there is nothing new.
  func next(for position: inout SubscriberPosition) -> [UInt8]? {
    let lastSequence = engine.ring.lastSequence
    let isFirst = position.endOfMessage == nil
    if isFirst { skipOtherMachines(&position) }
    let isMachineListOld = position.machineListRevision != engine.machineListRevision
    guard !isFirst || position.sequence < lastSequence || isMachineListOld else { return nil }
    if isMessageCurrent, isFirst, position.sequence == engine.messageStart,
      position.machines?.isSuperset(of: engine.messageMachines) ?? true
    {
      (position.sequence, position.machineListRevision) = (lastSequence, engine.machineListRevision)
      return engine.message
    }
    let part: Part
    if let sharedPart, sharedPart.start == position, sharedPart.lastSequence == lastSequence {
      part = sharedPart
    } else {
      part = write(from: position)
      // Most subscribers want all machines, so only a part for all machines is worth keeping.
      if isFirst, position.machines == nil { sharedPart = part }
    }
    if part.reportsMissed { missed += 1 }
    position = part.end
    return part.bytes
  }

  /// Moves a position between two messages past the changes of machines that are not subscribed to.
  /// Does nothing if the ring has lost changes: some may be of subscribed machines.
  private func skipOtherMachines(_ position: inout SubscriberPosition) {
    let ring = engine.ring
    guard let machines = position.machines, ring.hasAll(after: position.sequence) else { return }
    let next = ring.changes(after: position.sequence, upTo: ring.lastSequence).first {
      machines.contains($0.machine)
    }
    position.sequence = next.map { $0.sequence - 1 } ?? ring.lastSequence
  }

  /// Writes a part of a message. The first part has the start of the message, and the last part
  /// its end. If the ring has lost changes, the part reports their number instead.
  private func write(from start: SubscriberPosition) -> Part {
    let ring = engine.ring
    let endOfMessage = start.endOfMessage ?? ring.lastSequence
    let isLost = !ring.hasAll(after: start.sequence)
    let reached = isLost ? endOfMessage : min(endOfMessage, start.sequence + Self.changesPerPart)
    let isFirst = start.endOfMessage == nil
    let isWhole = reached == endOfMessage
    var bytes: [UInt8] = []
    bytes.appendJSON(isFirst: isFirst) { json in
      if isFirst {
        Reply.startContinuing(&json)
        MonitorReply.start(engine.stateMessage(at: source.now), &json)
      }
      if !isLost {
        for change in ring.changes(after: start.sequence, upTo: reached)
        where start.machines?.contains(change.machine) ?? true {
          change.write(to: &json)
        }
      }
      guard isWhole else { return }
      MonitorReply.end(isLost ? endOfMessage - start.sequence : 0, &json)
      Reply.endContinuing(&json)
    }
    if isWhole { bytes.append(0) }
    return Part(
      start: start,
      end: SubscriberPosition(
        sequence: reached, machines: start.machines, endOfMessage: isWhole ? nil : endOfMessage,
        machineListRevision: isFirst ? engine.machineListRevision : start.machineListRevision),
      lastSequence: ring.lastSequence, reportsMissed: isLost, bytes: bytes)
  }
}
