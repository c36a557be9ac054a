import KeyboardModes
import KeymodeInterface
import SystemCalls
import Systemd
import Varlink

/// The states, the changes that led to them, and what the interface tells of both.
final class ModeService {
  private(set) var controller: Controller
  private var ring: ChangeRing
  private let instance: String
  let source: any InputSource
  private let store: StateStore?

  /// The time in microseconds since boot, whatever the clock of the source says, and when it was made.
  private let sinceBoot: () -> Int64
  private let started: Int64

  /// How often events of a device were lost.
  private var losses = 0

  /// How often a client was told that it had missed changes.
  private var missed = 0

  /// How often the configuration was read again.
  var reloads = 0

  /// Which configuration is in force.
  var configurationInForce = ConfigurationFile.InForce.current

  /// The number of the last change of the daemon before this one.
  private let changesBefore: Int64

  /// The last message to subscribers. Most of them are at the same change and get the same bytes.
  private var lastMessage = (
    after: Int64.min, latest: Int64.min, isNotice: false, reaching: SubscriberPosition(sequence: 0)
  )

  /// The bytes of that message. Their memory is used for the next one, once they have been sent.
  private var lastMessageBytes: [UInt8] = []

  /// How many changes of a message are written at once. The next ones are written when these have left,
  /// so that a subscriber who does not read keeps no more of it.
  static let changesAtOnce: Int64 = 32

  /// The reply to ListMachines, once somebody has asked, by the settings that are in force.
  private var machinesReply: [UInt8]?

  /// The last long replies.
  private var longReplies: [[UInt8]] = []

  /// Which lights tell of which states, and which were last said to be on.
  private var lightRules = LightRules()
  private var lit: Lights = []

  /// Tells all who listen that there are changes.
  var changed: () -> Void = {}

  /// Has ``awake()`` called when the source's clock has reached a time, and not before; `nil`: not
  /// at all. Called when that is another.
  var wake: (Time?) -> Void = { _ in }
  private var wakesAt: Time?

  /// - Parameter store: what outlives the service; the service goes on from what is in it.
  init(
    settings: Settings, ringCapacity: Int = 1024, source: any InputSource, store: StateStore? = nil,
    sinceBoot: @escaping () -> Int64 = microsecondsSinceBoot
  ) {
    self.source = source
    self.sinceBoot = sinceBoot
    started = sinceBoot()
    self.store = store
    if let contents = store?.read() {
      instance = contents.instance
      var changes: [Change] = []
      controller = Controller(
        settings: settings, resuming: contents.snapshot,
        changedLast: contents.changes.last?.time, at: source.now, publish: { changes.append($0) })
      ring = ChangeRing(capacity: ringCapacity, restoring: contents.changes + changes)
      if !changes.isEmpty { store?.commit(changes, controller.snapshot, instance: instance) }
    } else {
      instance = ServiceManager.randomName()
      controller = Controller(settings: settings)
      ring = ChangeRing(capacity: ringCapacity)
      store?.commit([], controller.snapshot, instance: instance)
    }
    changesBefore = ring.latest
  }

  /// Takes what happened, in order, and publishes the changes that it makes.
  func take(_ inputs: [Controller.Input]) {
    let before = ring.latest
    for (place, input) in inputs.enumerated() {
      if case .synchronized = input { losses += 1 }
      controller.take(
        input, followedBy: inputs[(place + 1)...], keysUp: { source.keysUp(among: $0, on: $1) },
        publish: { ring.append($0) })
    }
    tell(after: before)
  }

  /// Asks to be woken when something is due. From then on it asks by itself.
  func watchTime() {
    // To ask for the deadline itself copies the controller.
    let deadline = controller.hasDeadlines ? controller.deadline : nil
    guard deadline != wakesAt else { return }
    wakesAt = deadline
    wake(deadline)
  }

  /// Lets happen what was due by the time that ``wake`` has been told.
  func awake() {
    wakesAt = nil
    passTime()
  }

  /// Lets happen what was due by now, after all that happened before.
  ///
  /// - Returns: the time that is reached; see ``InputSource/catchUp()``.
  @discardableResult
  private func passTime() -> Time {
    let reached = source.catchUp()
    let before = ring.latest
    let settled = Time(microseconds: reached.microseconds - source.lateness)
    controller.advance(to: settled) { ring.append($0) }
    tell(after: before)
    return reached
  }

  private func tell(after sequence: Int64) {
    watchTime()
    guard ring.latest != sequence else { return }
    commit(after: sequence)
    changed()
    guard !lightRules.used.isEmpty else { return }
    let lit = lightRules.lit(in: controller.modes)
    if lit != self.lit { light(lit) }
  }

  /// Puts other settings into force. What happened before acts by the old ones.
  func apply(_ settings: Settings, _ lightRules: LightRules = LightRules()) {
    let reached = passTime()
    self.lightRules = lightRules
    take([.configured(settings, at: reached)])
    machinesReply = nil
    show(lightRules)
  }

  /// Has the states told by the lights of the keyboards from now on.
  func show(_ rules: LightRules) {
    lightRules = rules
    light(rules.lit(in: controller.modes))
  }

  private func light(_ lit: Lights) {
    self.lit = lit
    source.light(lit, of: lightRules.used)
  }

  /// What anybody is told must not be forgotten, so it is kept first.
  private func commit(after sequence: Int64) {
    guard let store else { return }
    let oldest = max(sequence, ring.latest - Int64(ring.capacity))
    guard let changes = ring.last(after: oldest) else { return }
    store.commit(changes, controller.snapshot, instance: instance)
  }

  private var state: StateMessage {
    StateMessage(instance: instance, time: source.now, modes: controller.modes)
  }
}

/// Where inputs come from: keyboards, or a recording of one.
protocol InputSource: AnyObject {
  /// The time on the clock that stamps the inputs.
  var now: Time { get }

  /// Delivers what has happened by now.
  ///
  /// - Returns: the time that is reached by that. What happened before has been delivered, and what
  ///   happens next is later than whatever is done at this time.
  func catchUp() -> Time

  /// How many microseconds later than it happened something may be handed over. What is due waits for
  /// so long, in case it would not have happened.
  var lateness: Int64 { get }

  /// When ``catchUp()`` will have reached `time`, in microseconds since boot.
  func realTime(reaching time: Time) -> Int64

  /// The devices that are followed.
  var devices: [DeviceMessage] { get }

  /// Which of `keys` are known to be up on this device although nothing more of it waits to be
  /// delivered.
  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode]

  /// Has, of the lights that are `used`, those on that are in `lit` and the others off.
  func light(_ lit: Lights, of used: Lights)
}

extension InputSource {
  var lateness: Int64 { 0 }

  // Only keyboards have any.
  func light(_ lit: Lights, of used: Lights) {}
}

// MARK: - The interface

extension ModeService {
  func getState() -> StateMessage { state }

  /// The reply that tells what the machines are. It may be large, so all who ask share its bytes.
  func machines() -> [UInt8] {
    if let written = machinesReply { return written }
    let written = Reply.message("machines", listMachines())
    machinesReply = written
    return written
  }

  private func listMachines() -> [MachineMessage] {
    let shift = MachineMessage(named: Machine.shift.rawValue, rules: controller.settings.shift)
    let keyboard = MachineMessage(
      named: Machine.keyboard.rawValue, rules: controller.settings.keyboard)
    return [shift, keyboard]
  }

  func listDevices() -> [DeviceMessage] { source.devices }

  func getStatistics(clients: Int) -> StatisticsMessage {
    StatisticsMessage(
      started: Time(microseconds: started), time: Time(microseconds: sinceBoot()),
      changes: ring.latest - changesBefore, clients: clients,
      missed: missed, devices: source.devices.count, losses: losses, reloads: reloads,
      configuration: configurationInForce.rawValue)
  }

  /// Subscribes a client to what comes after change `after` of the sequence `instance`, or after the last
  /// one where it knows none.
  ///
  /// - Returns: where it stands, and the first reply; `nil` where that is what ``next(for:)`` gives.
  func monitor(
    after: Int64?, instance: String?
  ) throws(VarlinkError) -> (MonitorMessage?, SubscriberPosition) {
    let latest = SubscriberPosition(sequence: ring.latest)
    switch (after, instance) {
    case (nil, nil): return (MonitorMessage(state: state, changes: [], missed: 0), latest)
    case (nil, .some): throw .invalidParameter("after")
    case (.some, nil): throw .invalidParameter("instance")
    case (.some(let after), .some(let instance)):
      guard instance == self.instance else {
        missed += 1
        return (MonitorMessage(state: state, changes: [], missed: nil), latest)
      }
      guard 0...ring.latest ~= after else { throw .invalidParameter("after") }
      guard after < ring.latest else {
        return (MonitorMessage(state: state, changes: [], missed: 0), latest)
      }
      // The bytes of a message that others were sent earlier tell the time of then.
      lastMessage.after = .min
      return (nil, SubscriberPosition(sequence: after))
    }
  }

  /// What a subscriber is to be sent now: a message, or the next part of one that tells of many changes.
  ///
  /// - Parameter position: how far it has been told; afterwards, how far these bytes tell it.
  /// - Returns: `nil` where there is nothing new.
  func next(for position: inout SubscriberPosition) -> [UInt8]? {
    if let end = position.endOfMessage { return rest(upTo: end, for: &position) }
    guard position.sequence < ring.latest else { return nil }
    if lastMessage.after != position.sequence || lastMessage.latest != ring.latest {
      write(messageAfter: position.sequence)
    }
    if lastMessage.isNotice { missed += 1 }
    position = lastMessage.reaching
    return lastMessageBytes
  }

  private func write(messageAfter sequence: Int64) {
    // Taken out, so that nobody but clients who have yet to send them has these bytes as well.
    var bytes: [UInt8] = []
    swap(&bytes, &lastMessageBytes)
    bytes.removeAll(keepingCapacity: true)
    Reply.writeStartOfContinuing(to: &bytes)
    MonitorMessage.writeStart(state, to: &bytes)
    let changes = ring.last(after: sequence)
    let reaching: SubscriberPosition
    if let changes {
      reaching = write(changes, upTo: ring.latest, areFirst: true, to: &bytes)
    } else {
      reaching = SubscriberPosition(sequence: ring.latest)
      end(missed: ring.latest - sequence, &bytes)
    }
    swap(&bytes, &lastMessageBytes)
    lastMessage = (sequence, ring.latest, changes == nil, reaching)
  }

  /// The next part of a message that ends with change number `end`. Where the ring has lost what was to
  /// follow, the message ends with how much that was.
  private func rest(upTo end: Int64, for position: inout SubscriberPosition) -> [UInt8] {
    var bytes: [UInt8] = []
    if let changes = ring.last(after: position.sequence) {
      position = write(changes, upTo: end, areFirst: false, to: &bytes)
    } else {
      missed += 1
      self.end(missed: end - position.sequence, &bytes)
      position = SubscriberPosition(sequence: end)
    }
    return bytes
  }

  /// Appends some changes of a message, and its end where they are the last.
  private func write(
    _ changes: ChangeRing.Last, upTo end: Int64, areFirst: Bool, to bytes: inout [UInt8]
  ) -> SubscriberPosition {
    let part = changes.first(upTo: end, atMost: Self.changesAtOnce)
    MonitorMessage.write(part, areFirst: areFirst, to: &bytes)
    guard part.end == end else {
      return SubscriberPosition(sequence: part.end, endOfMessage: end)
    }
    self.end(missed: 0, &bytes)
    return SubscriberPosition(sequence: end)
  }

  private func end(missed: Int64, _ bytes: inout [UInt8]) {
    MonitorMessage.writeEnd(missed: missed, to: &bytes)
    Reply.writeEndOfContinuing(to: &bytes)
  }

  /// The same bytes, in memory that all who get the same long reply share.
  func shared(_ message: [UInt8]) -> [UInt8] {
    guard message.count > Self.shortReply else { return message }
    if let same = longReplies.first(where: { $0 == message }) { return same }
    if longReplies.count == Self.longRepliesKept { longReplies.removeFirst() }
    longReplies.append(message)
    return message
  }

  /// Replies of up to so many bytes are not worth sharing.
  private static let shortReply = 1024

  /// There are the texts of two interfaces and the devices.
  private static let longRepliesKept = 3

  func trigger(_ name: String) throws(VarlinkError) -> TriggerMessage {
    guard let event = ClientEvent(name: name, in: controller.settings.keyboard) else {
      throw .invalidParameter("event")
    }
    // What was typed before the call acts before the call.
    let reached = source.catchUp()
    let before = ring.latest
    take([.client(event, at: reached)])
    return TriggerMessage(changed: ring.latest != before, state: state)
  }
}
