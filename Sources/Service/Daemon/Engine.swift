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
  var messageMachines: Set<MachineName> {
    Set(ring.changes(after: messageStart, upTo: ring.lastSequence).map(\.machine))
  }

  /// The controller's ``Controller/status`` after the last batch.
  @exclusivity(unchecked) private var controllerStatus: Controller.Status

  /// See ``Controller/Status/machineListRevision``.
  var machineListRevision: Int { controllerStatus.machineListRevision }

  /// The name of the sequence of changes.
  let instance: String

  /// The number of the last change before the first batch.
  let sequenceAtStart: Int64

  /// How often events of a device were lost.
  private(set) var losses = 0

  private let store: StateStore?

  /// - Parameters:
  ///   - store: keeps the states and the last changes. The engine continues from its contents.
  ///   - now: the time at which the engine continues.
  init(
    settings: Settings, ringCapacity: Int = ChangeRing.defaultCapacity, store: StateStore? = nil,
    at now: Time
  ) {
    self.store = store
    let contents = store?.contents
    controller = Controller(settings: settings)
    controllerStatus = controller.status
    instance = contents?.state.instance ?? ServiceManager.randomID()
    let last = contents?.state.states.sequence ?? 0
    let kept = contents?.changes ?? []
    ring = ChangeRing(capacity: ringCapacity, after: last - Int64(kept.count))
    var changes: [Change] = []
    if let contents {
      let entered = contents.state.states.entries.compactMap(\.since).max()
      changes = controller.resume(
        contents.snapshot, changedLast: kept.last?.time ?? entered, at: now)
      controllerStatus = controller.status
    }
    for change in kept + changes { ring.append(change) }
    sequenceAtStart = ring.lastSequence
    commit(lastChanges: kept.count + changes.count, at: now)
  }

  /// Has the controller process a batch. Adds the changes to the ``ring``, and stores the states
  /// with the last changes. Returns whether there are changes, or a new list of machines, to send.
  /// For `keysUp`, see ``Controller/handle(_:keysUp:beforeEach:)``.
  func process(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode] = { _, _ in [] }
  ) -> Bool {
    for case .synchronized in batch.inputs { losses += 1 }
    let changes = controller.handle(batch, keysUp: keysUp)
    let (before, now) = (controllerStatus, controller.status)
    controllerStatus = now
    for change in changes { ring.append(change) }
    // Commits even without a change: the store also keeps the awaited releases.
    if now.revision != before.revision { commit(lastChanges: changes.count, at: batch.reached) }
    return !changes.isEmpty || now.machineListRevision != before.machineListRevision
  }

  /// Forgets all changes so far, in the store too; the sequence goes on.
  func forgetChanges(at time: Time) {
    ring = ChangeRing(capacity: ring.capacity, after: ring.lastSequence)
    commit(lastChanges: 0, at: time)
  }

  /// Writes the message of the states and the last `count` changes, at most
  /// ``StateStore/maxChanges``, and stores it. If the ring has any change, the message has at
  /// least the last one, which may not have been sent yet.
  private func commit(lastChanges count: Int, at time: Time) {
    let snapshot = withController { $0.snapshot }
    messageStart = ring.lastSequence - Int64(min(max(count, 1), StateStore.maxChanges, ring.count))
    message.removeAll(keepingCapacity: true)
    message.appendJSON { json in
      Reply.startContinuing(&json)
      MonitorReply.start(stateMessage(snapshot.states, at: time), &json)
      let changes = ring.changes(after: messageStart, upTo: ring.lastSequence)
      for change in changes { change.write(to: &json) }
      MonitorReply.end(0, &json)
      Reply.endContinuing(&json)
    }
    message.append(0)
    store?.commit(message, snapshot)
  }

  /// Reads from the controller in place: a property of a class would first be copied as a whole.
  private func withController<Value>(_ value: (inout Controller) -> Value) -> Value {
    value(&controller)
  }

  /// When ``process(_:keysUp:)`` must be called next if nothing happens before; `nil` for never.
  ///
  /// - Parameter forKeysUp: whether the daemon also wakes up to ask `keysUp` for released keys.
  func wakeTime(forKeysUp: Bool) -> Time? {
    forKeysUp ? controllerStatus.wakeTime : controllerStatus.deadline
  }

  var settings: Settings { withController { $0.settings } }

  /// The states of all machines.
  var states: States { withController { $0.states } }

  /// The states, in a message written at `time`.
  func stateMessage(at time: Time) -> StateMessage { stateMessage(states, at: time) }

  private func stateMessage(_ states: States, at time: Time) -> StateMessage {
    StateMessage(
      instance: instance, time: time, states: states,
      shiftTrigger: withController { $0.settings.shiftTrigger })
  }
}
