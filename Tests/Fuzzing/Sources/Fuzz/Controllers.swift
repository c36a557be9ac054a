import KeyboardModes

/// Lets a controller have whatever inputs `bytes` make up, beside the rules as they are written, one
/// that begins in the middle, and one that has them redacted.
func attemptController(_ bytes: [UInt8]) {
  var script = InputScript(bytes)
  var trial = Trial(script.settings, script.rows, resumeAfter: script.resumeAfter)
  for device in script.ownKeys { trial.redactor.add(device.key, keys: device.value) }
  while let step = script.next() {
    switch step {
    case .configure(let settings, let rows, let time): trial.configure(settings, rows, at: time)
    case .restart(let present, let time): trial.restart(present, at: time)
    case .wake(let time):
      trial.pass(to: time)
      handleAsDaemon(Batch(reached: time, noInputBefore: time), &trial, &script)
    case .input(let input): handleAsDaemon(Batch([input]), &trial, &script)
    }
  }
  trial.end()
}

/// Handles a batch with the releases that a grab hid.
private func handleAsDaemon(_ batch: Batch, _ trial: inout Trial, _ script: inout InputScript) {
  var controller = trial.controller
  // Closures that may escape cannot have parameters of this function.
  var after = trial
  controller.handle(
    batch,
    keysUp: { keys, device in
      after.checkAsked(keys, device, by: batch.inputs.first)
      return script.isUp() ? Array(keys.prefix(1)) : []
    }, beforeEach: { after.handle($1) })
  trial = after
  require(controller.snapshot == trial.controller.snapshot)
}

private struct Trial {
  private(set) var controller: Controller
  var redactor: Redactor
  private var reference: Reference
  private var resumed: Controller?
  private var resumeAfter: Int
  /// The one that has only what may be written; not once bindings have changed, which a recording
  /// does not have.
  private var redacted: Controller?
  /// The time of the last input of each device that is redacted.
  private var redactedTimes: [DeviceID: Time] = [:]
  private var latest = Time(microseconds: 0)

  init(_ settings: Settings, _ rows: [Reference.Row], resumeAfter: Int) {
    controller = Controller(settings: settings)
    redacted = Controller(settings: settings)
    redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
    reference = Reference(settings, rows)
    self.resumeAfter = resumeAfter
  }

  mutating func handle(_ input: Controller.Input) {
    resumeIfDue()
    if let time = input.time { reach(time) }
    let wasUntold = reference.locks.needsReport
    let expected = reference.handle(input)
    require(controller.handle(input) == expected, "not what the rules say of \(input)")
    require(controller.states.sequence == reference.sequence)
    require(controller.snapshot.shift == reference.shift)
    require(controller.snapshot.states[.keyboard] == reference.keyboard)
    for lock in Lock.allCases {
      let name = lock.machine.rawValue
      require(controller.states[lock.machine] == reference.locks.all[name]?.state)
    }
    require(controller.deadline == reference.deadline)
    require((controller.nextCheck != nil) == !reference.activeChords.isEmpty)
    require(controller.snapshot.awaitedReleases == reference.allAwaited)
    if var resumed {
      require(resumed.handle(input) == expected, "resumed, it does something else")
      require(resumed.states == controller.states)
      require(resumed.deadline == controller.deadline)
      self.resumed = resumed
    }
    forgetRedactedIfStepsBack(input)
    if var redacted {
      var copied: [Change] = []
      // What has no effect is not written, but time goes by.
      if let time = input.time { copied += redacted.advance(to: time) }
      let written = redactor.redact(input)
      copied += written.map { redacted.handle($0) } ?? []
      // What opened devices show is news with the next input that is written, so later than here.
      let isLater = wasUntold && input.time != nil && written == nil
      require(isLater || copied == expected, "redacted, \(input) makes \(copied), not \(expected)")
      self.redacted = isLater ? nil : redacted
    }
  }

  /// With debouncing, the redactor relies on a kernel whose times of one device never step back.
  private mutating func forgetRedactedIfStepsBack(_ input: Controller.Input) {
    // Several keys that were found down have one code, so they are one key of a shortcut, and one for
    // which Shift was lifted.
    switch input {
    case .opened(_, let held) where held.count > 1: redacted = nil
    case .synchronized(_, let found, _) where found.count > 2: redacted = nil
    default: break
    }
    guard let device = input.device, let time = input.time else { return }
    let last = redactedTimes.updateValue(time, forKey: device) ?? time
    let isDebouncing = reference.settings.debounce > .zero
    if isDebouncing, time < last { redacted = nil }
  }

  mutating func configure(_ settings: Settings, _ rows: [Reference.Row], at time: Time) {
    resumeIfDue()
    if settings.bindings != reference.settings.bindings { redacted = nil }
    let input = Controller.Input.configured(settings, at: time)
    let expected = reference.configure(settings, rows, at: time)
    require(controller.handle(input) == expected, "not what the rules say of other settings")
    require(controller.deadline == reference.deadline)
    require(controller.snapshot.awaitedReleases == reference.allAwaited)
    resumed?.handle(input)
    redacted?.handle(input)
  }

  private mutating func reach(_ time: Time) {
    // One that was resumed does not know when LEDs changed and keys were pressed before, and time may
    // step back to it.
    let isKnown =
      reference.silent == nil && reference.locks.all.values.allSatisfy(\.changes.isEmpty)
    if time < latest, !isKnown { resumed = nil }
    latest = time
  }

  /// Time goes by.
  mutating func pass(to time: Time) {
    reach(time)
    let expected = reference.advance(to: time)
    require(controller.advance(to: time) == expected, "not what the rules say of time")
    if var resumed {
      require(resumed.advance(to: time) == expected, "resumed, time does something else")
      self.resumed = resumed
    }
    redacted?.advance(to: time)
    require(redacted.map { $0.states == controller.states } ?? true)
  }

  /// The daemon is started anew. A device that is not present was unplugged meanwhile.
  mutating func restart(_ present: [DeviceID], at time: Time) {
    // Recordings do not span it.
    (redacted, resumed, resumeAfter) = (nil, nil, Int.max)
    let (held, leds, locks) = (reference.down, reference.locks.leds, reference.locks)
    let snapshot = controller.snapshot
    controller = Controller(settings: reference.settings)
    let changes = controller.resume(snapshot, changedLast: nil, at: time)
    require(changes.isEmpty, "by the same settings nothing changes")
    reference.restart()
    for device in present {
      let keys = held[device, default: [:]].keys.sorted().compactMap { KeyCode($0) }
      handle(.opened(device, held: keys))
      if let report = LEDReport(leds[device]) { handle(.leds(device, report, at: nil)) }
    }
    handle(.allOpened(at: time))
    let isSame = leds.keys.allSatisfy(present.contains) && !locks.needsReport
    if isSame, locks.all.values.allSatisfy({ $0.hidden == nil }) {
      require(
        !reference.changes.contains { $0.machine == .caps || $0.machine == .num },
        "a restart with the same LEDs is silent")
    }
    require(reference.inherited.isEmpty)
    require(
      controller.snapshot.awaitedReleases.allSatisfy { awaited in
        present.contains { held[$0]?[awaited.key.number] != nil }
      }, "what no device holds was released")
  }

  /// A daemon that is started anew knows the states, and learns what is down from the devices.
  private mutating func resumeIfDue() {
    resumeAfter -= 1
    // Where time steps back, what is due may have to wait for the next input.
    let isDue = reference.deadline.map { $0 <= latest } ?? false
    guard resumed == nil, resumeAfter < 0, reference.isTold, !isDue,
      reference.silent?.time != latest.microseconds,
      reference.locks.isSettled(at: latest.microseconds, reference)
    else { return }
    var next = Controller(settings: reference.settings)
    let changes = next.resume(
      controller.snapshot, changedLast: nil, at: Time(microseconds: 0))
    require(changes.isEmpty, "by the same settings nothing changes")
    for (device, keys) in reference.down.sorted(by: { $0.key < $1.key }) {
      let held = keys.keys.sorted().compactMap { KeyCode($0) }
      require(next.handle(.opened(device, held: held)).isEmpty)
    }
    for (id, leds) in reference.locks.leds.sorted(by: { $0.key < $1.key }) {
      if let report = LEDReport(leds) { require(next.handle(.leds(id, report, at: nil)).isEmpty) }
    }
    require(next.handle(.allOpened(at: latest)).isEmpty)
    require(next.snapshot == controller.snapshot, "\(next.snapshot) is not \(controller.snapshot)")
    resumed = next
  }

  /// The kernel is asked of modifiers and keys of shortcuts that are held, but not of the key that is
  /// pressed; and from time to time of keys whose release is awaited.
  func checkAsked(_ keys: [KeyCode], _ device: DeviceID, by input: Controller.Input?) {
    let down = keys.allSatisfy { reference.down[device]?[$0.number] != nil }
    require(!keys.isEmpty && down, "what is not held cannot be stuck")
    let awaited = reference.activeChords.filter { $0.device == device }.map(\.key)
    if keys.allSatisfy({ awaited.contains($0.number) }) { return }
    guard case .key(let pressing, let event)? = input else {
      fatalError("no release of it is awaited")
    }
    require(device != pressing || !keys.contains(event.key))
    require(
      keys.allSatisfy { key in
        Keys.modifier(key.number) != nil || Keys.navigation.contains(key.number)
          || Keys.buttons.contains(key.number)
      })
  }

  /// Takes all devices away; nothing is held then.
  mutating func end() {
    for device in reference.down.keys.sorted() { handle(.gone(device, at: latest)) }
    require(reference.activeChords.isEmpty && controller.snapshot.awaitedReleases.isEmpty)
    passAllTime()
    let device = DeviceID(order: 1000)
    for number in InputScript.keys {
      guard let key = KeyCode(number) else { continue }
      let press = KeyEvent(time: Time(microseconds: 0), key: key, action: .press)
      var (copy, rules) = (controller, reference)
      let input = Controller.Input.key(device, press)
      let changes = copy.handle(Batch([input])) { _, _ in
        fatalError("something is held, and nothing is there to hold it")
      }
      require(changes == rules.handle(input), "something is held")
    }
  }

  /// What is due at last is due once.
  private mutating func passAllTime() {
    let end = Time(microseconds: .max)
    let expected = reference.advance(to: end)
    require(controller.advance(to: end) == expected, "not what the rules say of time")
    require(controller.deadline == nil && reference.deadline == nil)
    redacted?.advance(to: end)
    require(redacted?.states ?? controller.states == controller.states)
    require(controller.end(at: end).isEmpty, "nothing is left")
  }
}

extension Controller.Input {
  /// The time of it, where it has one.
  fileprivate var time: Time? {
    switch self {
    case .key(_, let event): event.time
    case .missedRelease(_, _, let time), .synchronized(_, _, let time), .client(_, let time),
      .configured(_, let time), .gone(_, let time), .allOpened(let time):
      time
    case .leds(_, _, let time): time
    case .opened: nil
    }
  }
}

extension LEDReport {
  /// A report of LEDs by the names of their locks; `nil` if there are none.
  fileprivate init?(_ leds: [String: Bool]?) {
    guard let leds, !leds.isEmpty else { return nil }
    self.init()
    for lock in Lock.allCases {
      guard let isOn = leds[lock.machine.rawValue] else { continue }
      update(by: LEDReport(lock.led, on: isOn ? lock.led : []))
    }
  }
}
