import StateMachines

/// Turns what keyboards and programs do into changes of the two machines.
///
/// The controller is pure: it reads no clock and no file, and knows nothing but its inputs. Live
/// service, replay and tests run this same code, so the same inputs give the same changes.
///
/// Key events act as they are read, one by one, not at the end of their frame. For each press:
///
/// 1. A Shift key belongs to the Shift machine: at once, or as a tap (``Settings/ShiftTrigger``).
/// 2. A chord that is bound means its keyboard event and nothing more, until its release.
/// 3. A character key, with neither Ctrl, left Alt nor Meta held on any device, types a character;
///    so does its autorepeat.
/// 4. Anything else is nothing.
public struct Controller: Sendable {
  /// All that can happen.
  public enum Input: Hashable, Sendable {
    /// A device was opened while these keys were down. Their presses were not seen and count as
    /// nothing, but modifiers among them are held.
    case opened(DeviceID, held: [KeyCode])
    /// A key of a device was pressed, released or repeated.
    case key(DeviceID, KeyEvent)
    /// Events of a device were lost, and afterwards these keys were found changed. `at` is when
    /// the loss was noticed; when the keys really changed is not known.
    case synchronized(DeviceID, [KeyDifference], at: Time)
    /// A device went away. Only what it held is released.
    case gone(DeviceID)
    /// A program sent an event.
    case client(ClientEvent, at: Time)

    /// The device that it happened to, if it was one.
    public var device: DeviceID? {
      switch self {
      case .opened(let device, _), .key(let device, _), .synchronized(let device, _, _),
        .gone(let device):
        device
      case .client: nil
      }
    }
  }

  /// A press of Shift that may turn out to be a tap.
  private struct TapCandidate: Sendable {
    let device: DeviceID
    let key: KeyCode
    let pressed: Time
    let timeout: Duration
  }

  private let settings: Settings
  private var shift: StateMachine<ShiftRules>
  private var keyboard: StateMachine<KeyboardRules>
  private var devices: [HeldKeys] = []
  private var tap: TapCandidate?
  private var sequence: Int64 = 0
  private var shiftSince: Time?
  private var keyboardSince: Time?

  /// A controller in the initial states, without devices.
  public init(settings: Settings = Settings()) {
    self.settings = settings
    shift = StateMachine(settings.shift)
    keyboard = StateMachine(KeyboardRules())
  }

  /// The states of both machines now.
  public var modes: Modes {
    Modes(
      sequence: sequence, shift: shift.state.name, shiftSince: shiftSince,
      keyboard: keyboard.state.name, keyboardSince: keyboardSince)
  }

  /// Takes one input, and hands each change that it makes to `publish`, in order.
  public mutating func take(_ input: Input, publish: (Change) -> Void) {
    switch input {
    case .opened(let device, let held):
      let index = index(of: device)
      for key in held { devices[index].press(key) }
    case .key(let device, let event):
      take(event, index(of: device), publish)
    case .synchronized(let device, let differences, let time):
      take(differences, index(of: device), at: time, publish)
    case .gone(let device):
      devices.removeAll { $0.device == device }
    case .client(let event, let time):
      take(event, at: time, publish)
    }
  }

  /// The other devices on whose held modifiers the meaning of this press rests.
  ///
  /// A device that another program grabs in the middle of a key stroke never reports the release.
  /// Before such a press is taken, the caller can ask the kernel whether these keys are still down.
  public func devicesDeciding(pressOf key: KeyCode, on device: DeviceID) -> [DeviceID] {
    guard !key.isShift, key.isCharacter || settings.bindings.usesKey(key) else { return [] }
    return devices.filter { $0.device != device && !$0.held().isEmpty }.map(\.device)
  }

  /// The modifier keys that are held on `device`, as far as its events tell.
  public func modifiersHeld(on device: DeviceID) -> [KeyCode] {
    guard let keys = devices.first(where: { $0.device == device })?.down else { return [] }
    return Modifiers.keys.filter { keys.contains($0) }
  }
}

// MARK: - Keys

extension Controller {
  private mutating func take(
    _ event: KeyEvent, _ index: Int, _ publish: (Change) -> Void
  ) {
    switch event.action {
    case .press: press(event.key, index, time: event.time, stamp: event.time, publish)
    case .release: release(event.key, index, at: event.time, publish)
    case .autorepeat: `repeat`(event.key, index, at: event.time, publish)
    }
  }

  /// Differences come in the order of their codes, which says nothing about the order in which they
  /// happened. Releases first, then modifiers, then the rest: a letter found down together with Ctrl
  /// is a shortcut more likely than a letter.
  private mutating func take(
    _ differences: [KeyDifference], _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    // What was pressed and released while events were lost is not known, so no tap is certain.
    tap = nil
    for difference in differences where !difference.isDown {
      release(difference.key, index, at: time, publish)
    }
    for isModifier in [true, false] {
      for difference in differences where difference.isDown {
        guard Modifiers(of: difference.key).isEmpty != isModifier else { continue }
        press(difference.key, index, time: nil, stamp: time, publish)
      }
    }
  }

  /// - Parameters:
  ///   - time: when the key really went down; `nil` where that was lost.
  ///   - stamp: what a change is stamped with.
  private mutating func press(
    _ key: KeyCode, _ index: Int, time: Time?, stamp: Time, _ publish: (Change) -> Void
  ) {
    let held = modifiersHeld(without: key, index)
    devices[index].press(key)
    tap = nil
    if key.isShift {
      pressShift(key, index, time: time, stamp: stamp, publish)
    } else if let event = settings.bindings[Chord(held, key)] {
      devices[index].consume(key)
      send(event, at: stamp, publish)
    } else {
      type(key, held, at: stamp, publish)
    }
  }

  private mutating func pressShift(
    _ key: KeyCode, _ index: Int, time: Time?, stamp: Time, _ publish: (Change) -> Void
  ) {
    switch settings.shiftTrigger {
    case .press: send(.shiftPressed(at: time), at: stamp, publish)
    case .tap(let timeout):
      guard let time else { return }  // how long it was held will not be known
      tap = TapCandidate(
        device: devices[index].device, key: key, pressed: time, timeout: timeout)
    }
  }

  private mutating func release(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    guard devices[index].release(key) else { return }
    guard let tap, tap.key == key, tap.device == devices[index].device else { return }
    self.tap = nil
    if time.isWithin(tap.timeout, of: tap.pressed) {
      send(.shiftPressed(at: tap.pressed), at: tap.pressed, publish)
    }
  }

  private mutating func `repeat`(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    guard !devices[index].isConsumed(key) else { return }
    type(key, modifiersHeld(without: key, index), at: time, publish)
  }

  private mutating func type(
    _ key: KeyCode, _ held: Modifiers, at time: Time, _ publish: (Change) -> Void
  ) {
    guard key.isCharacter, held.isDisjoint(with: .commands) else { return }
    send(.characterTyped, at: time, publish)
  }

  /// The union over all devices, without the key in question.
  private func modifiersHeld(without key: KeyCode, _ index: Int) -> Modifiers {
    var held = devices[index].held(without: key)
    for other in devices.indices where other != index { held.formUnion(devices[other].held()) }
    return held
  }

  private mutating func index(of device: DeviceID) -> Int {
    if let index = devices.firstIndex(where: { $0.device == device }) { return index }
    devices.append(HeldKeys(device: device))
    return devices.count - 1
  }
}

// MARK: - Events of the machines

extension Controller {
  private mutating func take(
    _ event: ClientEvent, at time: Time, _ publish: (Change) -> Void
  ) {
    switch event {
    case .shiftPressed: send(.shiftPressed(at: time), at: time, publish)
    case .characterTyped: send(.characterTyped, at: time, publish)
    case .keyboard(let event): send(event, at: time, publish)
    }
  }

  private mutating func send(
    _ event: ShiftRules.Event, at time: Time, _ publish: (Change) -> Void
  ) {
    guard let step = shift.take(event) else { return }
    shiftSince = time
    publish(change(.shift, step.from.name, step.to.name, event.name, at: time))
  }

  private mutating func send(
    _ event: KeyboardRules.Event, at time: Time, _ publish: (Change) -> Void
  ) {
    guard let step = keyboard.take(event) else { return }
    keyboardSince = time
    publish(change(.keyboard, step.from.name, step.to.name, event.name, at: time))
  }

  /// The next change of the sequence.
  private mutating func change(
    _ machine: Machine, _ from: String, _ to: String, _ event: String, at time: Time
  ) -> Change {
    sequence += 1
    return Change(
      sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }
}
