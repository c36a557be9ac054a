import KeyboardModes
import System
import Wire

/// The states, and the changes that led to them: the controller, the last changes, and the store
/// that outlives the daemon. Reads no clock: callers give it all times.
final class Engine {
  private(set) var controller: Controller
  // Unchecked for speed: see `EventLoop`.
  @exclusivity(unchecked) private(set) var ring: ChangeRing

  /// The next message for a subscriber that has the changes up to ``messageStart``. The store keeps
  /// the same bytes, so they are written only once.
  @exclusivity(unchecked) private(set) var message: [UInt8] = []
  private(set) var messageStart: Int64 = 0

  /// The machines whose changes are in ``message``.
  var messageMachines: Set<Machine> {
    Set(ring.changes(after: messageStart, upTo: ring.latest).map(\.machine))
  }

  /// The controller's ``Controller/outlook`` after the last batch.
  @exclusivity(unchecked) private var outlook: Controller.Outlook

  /// See ``Controller/Outlook/machineListRevision``.
  var machineListRevision: Int { outlook.machineListRevision }

  /// The name of the sequence of changes.
  let instance: String

  /// The number of the last change before the first batch.
  let changesBefore: Int64

  /// How often events of a device were lost.
  private(set) var losses = 0

  private let store: StateStore?

  /// - Parameters:
  ///   - store: keeps the states and the last changes. The engine continues from its contents.
  ///   - now: the time at which the engine continues.
  init(
    settings: Settings, ringCapacity: Int = ChangeRing.usualCapacity, store: StateStore? = nil,
    at now: Time
  ) {
    self.store = store
    let contents = store?.contents
    controller = Controller(settings: settings)
    outlook = controller.outlook
    instance = contents?.state.instance ?? ServiceManager.randomID()
    let last = contents?.state.states.sequence ?? 0
    let kept = contents?.changes ?? []
    ring = ChangeRing(capacity: ringCapacity, after: last - Int64(kept.count))
    var changes: [Change] = []
    if let contents {
      let entered = contents.state.states.entries.compactMap(\.since).max()
      changes = controller.resume(
        contents.snapshot, changedLast: kept.last?.time ?? entered, at: now)
      outlook = controller.outlook
    }
    for change in kept + changes { ring.append(change) }
    changesBefore = ring.latest
    commit(kept.count + changes.count, at: now)
  }

  /// Has the controller process a batch. Returns whether there is news for subscribers: changes,
  /// which are then in the ``ring`` and in the store, or another list of machines.
  /// For `keysUp`, see ``Controller/take(_:keysUp:taken:)``.
  func process(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode] = { _, _ in [] }
  ) -> Bool {
    for case .synchronized in batch.inputs { losses += 1 }
    let changes = controller.take(batch, keysUp: keysUp)
    let (before, now) = (outlook, controller.outlook)
    outlook = now
    for change in changes { ring.append(change) }
    // Commits even without a change: the store also keeps which releases are awaited.
    if now.revision != before.revision { commit(changes.count, at: batch.reached) }
    return !changes.isEmpty || now.machineListRevision != before.machineListRevision
  }

  /// Forgets all changes so far, in the store too; the sequence goes on.
  func forgetChanges(at time: Time) {
    ring = ChangeRing(capacity: ring.capacity, after: ring.latest)
    commit(0, at: time)
  }

  /// Writes the message of the states and the last `count` changes, at most
  /// ``StateStore/mostChanges``, and stores it. If the ring has any change, the message has at
  /// least the last one, which may not have been sent yet.
  private func commit(_ count: Int, at time: Time) {
    let snapshot = read { $0.snapshot }
    messageStart = ring.latest - Int64(min(max(count, 1), StateStore.mostChanges, ring.count))
    message.removeAll(keepingCapacity: true)
    message.appendJSON { json in
      Reply.startContinuing(&json)
      MonitorReply.start(state(snapshot.states, at: time), &json)
      for change in ring.changes(after: messageStart, upTo: ring.latest) { change.write(to: &json) }
      MonitorReply.end(0, &json)
      Reply.endContinuing(&json)
    }
    message.append(0)
    store?.commit(message, snapshot)
  }

  /// Reads from the controller in place: a property of a class would first be copied as a whole.
  private func read<Value>(_ value: (inout Controller) -> Value) -> Value { value(&controller) }

  /// When ``process(_:keysUp:)`` must be called next if nothing happens before; `nil` for never.
  ///
  /// - Parameter asking: whether to wake also to call `keysUp`, which may find released keys.
  func wakeTime(asking: Bool) -> Time? { asking ? outlook.wakeTime : outlook.deadline }

  var settings: Settings { read { $0.settings } }

  /// The states of all machines.
  var states: States { read { $0.states } }

  /// The states, in a message written at `time`.
  func state(at time: Time) -> StateMessage { state(states, at: time) }

  private func state(_ states: States, at time: Time) -> StateMessage {
    StateMessage(
      instance: instance, time: time, states: states,
      shiftTrigger: read { $0.settings.shiftTrigger })
  }
}
