import KeyboardModes

/// Lets a controller have whatever inputs `bytes` make up, beside the rules as they are written, one
/// that begins in the middle, and one that has them redacted.
func attemptController(_ bytes: [UInt8]) {
  var script = InputScript(bytes)
  var trial = Trial(script.settings, script.rows, resumeAfter: script.resumeAfter)
  for device in script.ownKeys { trial.redactor.add(device.key, keys: device.value) }
  while let input = script.next() {
    if case .configured(let settings, let time) = input {
      trial.configure(settings, script.rows, at: time)
    } else {
      // As the daemon takes it: with the releases that a grab hid.
      var controller = trial.controller
      controller.take(
        Batch([input]),
        keysUp: { keys, device in
          trial.checkAsked(keys, device, by: input)
          return script.isUp() ? Array(keys.prefix(1)) : []
        }, taken: { trial.take($0) }, publish: { _ in })
      require(controller.snapshot == trial.controller.snapshot)
    }
  }
  trial.end()
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

  init(_ settings: Settings, _ rows: [Reference.Row], resumeAfter: Int) {
    controller = Controller(settings: settings)
    redacted = Controller(settings: settings)
    redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
    reference = Reference(settings, rows)
    self.resumeAfter = resumeAfter
  }

  mutating func take(_ input: Controller.Input) {
    resumeIfDue()
    let expected = reference.take(input)
    require(changes(&controller, input) == expected, "not what the rules say of \(input)")
    require(controller.modes.sequence == reference.sequence)
    require(controller.snapshot.shift == reference.shift)
    require(controller.snapshot.modes.keyboard == reference.keyboard)
    require(controller.deadline == reference.deadline)
    if var resumed {
      require(changes(&resumed, input) == expected, "resumed, it does something else")
      require(resumed.modes == controller.modes)
      require(resumed.deadline == controller.deadline)
      self.resumed = resumed
    }
    if var redacted {
      var copied: [Change] = []
      // What has no effect is not written, but time goes by.
      if let time = input.time { redacted.advance(to: time) { copied.append($0) } }
      copied += redactor.redact(input).map { changes(&redacted, $0) } ?? []
      require(copied == expected, "redacted, \(input) makes \(copied), not \(expected)")
      self.redacted = redacted
    }
  }

  mutating func configure(_ settings: Settings, _ rows: [Reference.Row], at time: Time) {
    resumeIfDue()
    if settings.bindings != reference.settings.bindings { redacted = nil }
    let input = Controller.Input.configured(settings, at: time)
    let expected = reference.configure(settings, rows, at: time)
    require(changes(&controller, input) == expected, "not what the rules say of other settings")
    require(controller.deadline == reference.deadline)
    resumed?.take(input) { _ in }
    redacted?.take(input) { _ in }
  }

  /// A daemon that is started anew knows the states, and learns what is down from the devices.
  private mutating func resumeIfDue() {
    resumeAfter -= 1
    guard resumed == nil, resumeAfter < 0, reference.isTold else { return }
    var next = Controller(
      settings: reference.settings, resuming: controller.snapshot, changedLast: nil,
      at: Time(microseconds: 0)
    ) { _ in fatalError("by the same settings nothing changes") }
    for (device, keys) in reference.down {
      let opened = Controller.Input.opened(device, held: keys.keys.compactMap { KeyCode($0) })
      require(changes(&next, opened).isEmpty)
    }
    resumed = next
  }

  /// The kernel is asked of modifiers that are held, but not of the key that is pressed.
  func checkAsked(_ keys: [KeyCode], _ device: DeviceID, by input: Controller.Input) {
    guard case .key(let pressing, let event) = input else { fatalError("no key was pressed") }
    require(!keys.isEmpty && (device != pressing || !keys.contains(event.key)))
    require(
      keys.allSatisfy {
        reference.down[device]?[$0.number] != nil && Reference.modifier($0.number) != nil
      }, "what is not held cannot be stuck")
  }

  /// Takes all devices away; nothing is held then.
  mutating func end() {
    for device in reference.down.keys { take(.gone(device, at: time)) }
    passAllTime()
    let device = DeviceID(order: 1000)
    for number in InputScript.keys {
      guard let key = KeyCode(number) else { continue }
      let press = KeyEvent(time: Time(microseconds: 0), key: key, action: .press)
      let missed = controller.missedReleases(before: .key(device, press), followedBy: []) { _, _ in
        fatalError("something is held, and nothing is there to hold it")
      }
      require(missed.isEmpty)
      var (copy, rules) = (controller, reference)
      let input = Controller.Input.key(device, press)
      require(changes(&copy, input) == rules.take(input), "something is held")
    }
  }

  /// What is due at last is due once.
  private mutating func passAllTime() {
    let end = Time(microseconds: .max)
    let expected = reference.advance(to: end)
    var told: [Change] = []
    controller.advance(to: end) { told.append($0) }
    require(told == expected, "not what the rules say of time")
    require(controller.deadline == nil && reference.deadline == nil)
    redacted?.advance(to: end) { _ in }
    require(redacted?.modes ?? controller.modes == controller.modes)
    controller.end(at: end) { _ in fatalError("nothing is left") }
  }

  private func changes(_ controller: inout Controller, _ input: Controller.Input) -> [Change] {
    var changes: [Change] = []
    controller.take(input) { changes.append($0) }
    return changes
  }
}

extension Controller.Input {
  /// The time of it, where it has one.
  fileprivate var time: Time? {
    switch self {
    case .key(_, let event): event.time
    case .synchronized(_, _, let time), .client(_, let time), .configured(_, let time): time
    case .opened, .gone: nil
    }
  }
}
