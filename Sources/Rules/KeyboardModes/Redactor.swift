/// Replaces the key codes of recorded inputs, so that the inputs do not tell what was typed but
/// cause the same changes.
///
/// Only codes that are known to be needed stay, such as the codes of modifiers, AltGr and keys that
/// complete a bound chord. The code of any other press becomes the lowest code of the same meaning
/// that is not in use, not bound and, if possible, on the device. A release or repeat has the code
/// of its press. The result tells that a character was typed, and when, but not which character.
///
/// Keys that are found down together, at opening or after a loss, are listed in the order of their
/// codes, and this order must not tell anything either. So keys of one meaning share a code. The
/// code goes up with the last of these keys: no rule asks how many such keys are down.
///
/// For a keyboard with several nodes, redact only the inputs that count: see ``TwinKeys``.
///
/// With ``Settings/debounce``, a bounce has the code of the press that it continues, and while a
/// release may still be followed by a bounce, its code stands for no other key. This needs devices
/// whose times never step back; the times of the kernel never do.
public struct Redactor: Sendable {
  private let bindings: Bindings
  private var heldKeys = HeldKeys()
  private var debouncer: Debouncer
  private var lifted = LiftedShifts()
  /// The codes that stand for the keys in use: keys that are down, or were released so
  /// recently that a press may be a bounce.
  private var redactedCodes: [DeviceKey: KeyCode] = [:]
  /// The keys that each device has: a device in a replay would lose all other keys.
  private var keysOfDevices: [DeviceID: KeySet] = [:]

  /// A redactor for these bindings and this debounce interval.
  public init(bindings: Bindings, debounce: Duration = .zero) {
    self.bindings = bindings
    debouncer = Debouncer(interval: debounce)
  }

  /// Adds a device with its keys, before its first input.
  public mutating func add(_ device: DeviceID, keys: KeySet) { keysOfDevices[device] = keys }

  /// The input with replaced codes; `nil` if it is left out, because no change depends on it.
  public mutating func redact(_ input: Controller.Input) -> Controller.Input? {
    switch input {
    case .opened(let device, let keys):
      return .opened(device, held: redact(keys, heldBy: device))
    case .key(let device, let event):
      return redact(
        event.action, DeviceKey(device, event.key), at: event.time, event.continuesFrame
      ).map {
        .key(
          device,
          KeyEvent(
            time: event.time, key: $0, action: event.action, continuesFrame: event.continuesFrame))
      }
    case .missedRelease(let device, let key, let time):
      defer { lifted.remove(device) }
      return redact(.release, DeviceKey(device, key), at: time, false).map {
        .missedRelease(device, $0, at: time)
      }
    case .synchronized(let device, let differences, let time):
      return .synchronized(device, redact(differences, on: device, at: time), at: time)
    case .gone(let device, _):
      heldKeys.remove(device)
      debouncer.remove(device)
      lifted.remove(device)
      redactedCodes = redactedCodes.filter { $0.key.device != device }
      keysOfDevices[device] = nil
      return input
    case .allOpened, .leds, .client, .configured: return input
    }
  }

  private mutating func redact(
    _ action: KeyEvent.Action, _ key: DeviceKey, at time: Time, _ inFrame: Bool
  ) -> KeyCode? {
    forgetUnused(on: key.device, at: time)
    var unshared: [PressMeaning: KeyCode] = [:]
    switch action {
    case .press: return press(key, at: time, inFrame, &unshared)
    case .release: return release(key, at: time)
    case .autorepeat: return redactedCode(for: key, keepsCode: alwaysKeepsCode(key), &unshared)
    }
  }

  /// The code of a press, or of a bounce.
  ///
  /// - Parameters:
  ///   - inFrame: whether the device's previous event is in the same frame; `nil` if the press was
  ///     not seen.
  ///   - shared: the codes that this key may share; its own code is added.
  /// - Returns: `nil` if the key has no code, or for a bounce while its code is already down.
  private mutating func press(
    _ key: DeviceKey, at time: Time, _ inFrame: Bool?,
    _ shared: inout [PressMeaning: KeyCode]
  ) -> KeyCode? {
    let isBounce = debouncer.undoRelease(bouncing: key, at: time)
    if !isBounce {
      let modifiers = heldKeys.modifiers(without: key)
      let isCharacter = bindings.meaning(of: key.code, modifiers).isCharacter
      let isShifted =
        inFrame.map { lifted.isShifted(key, at: time, inFrame: $0, isCharacter: isCharacter) }
        ?? false
      let keepsCode =
        alwaysKeepsCode(key) || bindings.boundPress(of: key.code, modifiers) != nil
        || isShifted && bindings.boundPress(of: key.code, modifiers.union(.shift)) != nil
      redactedCodes[key] = redactedCode(for: key, keepsCode: keepsCode, &shared)
    }
    let isSilent = isBounce && isDown(redactedCodes[key], on: key.device)
    _ = heldKeys.press(key)
    return isSilent ? nil : redactedCodes[key]
  }

  /// The code of a release.
  ///
  /// - Returns: `nil` if the key was not down, has no code, or another key holds its code down.
  private mutating func release(_ key: DeviceKey, at time: Time) -> KeyCode? {
    guard heldKeys.release(key) else { return nil }
    debouncer.release(key, at: time)
    if key.code.isShift { lifted.release(key, at: time, false) }
    return isDown(redactedCodes[key], on: key.device) ? nil : redactedCodes[key]
  }

  /// The codes of keys that are down when their device is opened.
  private mutating func redact(_ keys: [KeyCode], heldBy device: DeviceID) -> [KeyCode] {
    debouncer.remove(device)
    lifted.remove(device)
    // Opening forgot all bounces, so any time will do.
    forgetUnused(on: device, at: Time(microseconds: 0))
    var shared: [PressMeaning: KeyCode] = [:]
    for key in keys.map({ DeviceKey(device, $0) }) {
      // These presses were not seen, so none of them completed a chord.
      redactedCodes[key] = redactedCode(for: key, keepsCode: alwaysKeepsCode(key), &shared)
      heldKeys.open(device, [key.code])
    }
    let codes = Set(keys.compactMap { redactedCodes[DeviceKey(device, $0)] })
    return codes.sorted { $0.number < $1.number }
  }

  /// Replaces the codes. The order of the differences would reveal the codes, so the order changes
  /// too. Only modifiers, bound keys and the position of the first character among them keep their
  /// order, because they decide the changes. All releases take effect before the presses.
  private mutating func redact(
    _ differences: [KeyDifference], on device: DeviceID, at time: Time
  ) -> [KeyDifference] {
    let found = KeyDifference.inOrderOfEffect(differences)
    forgetUnused(on: device, at: time)
    let released = found.filter { !$0.isDown }
      .compactMap { release(DeviceKey(device, $0.key), at: time) }
      .sorted { $0.number < $1.number }
    forgetUnused(on: device, at: time)
    var shared: [PressMeaning: KeyCode] = [:]
    var kept: [KeyCode] = []
    var replaced: Set<KeyCode> = []
    var firstCharacter: Int?
    for key in found.filter(\.isDown).map({ DeviceKey(device, $0.key) }) {
      let isCharacter =
        !debouncer.isBounce(key, at: time)
        && key.code.typesCharacter(with: heldKeys.modifiers(without: key))
      guard let code = press(key, at: time, nil, &shared) else { continue }
      if code.isModifier || bindings.boundKeys.contains(code) {
        kept.append(code)
      } else {
        replaced.insert(code)
        if isCharacter { firstCharacter = firstCharacter ?? kept.count }
      }
    }
    // Only characters decide anything, so all replaced keys go where the first character was.
    kept.insert(
      contentsOf: replaced.sorted { $0.number < $1.number }, at: firstCharacter ?? kept.count)
    return released.map { KeyDifference(key: $0, isDown: false) }
      + kept.map { KeyDifference(key: $0, isDown: true) }
  }

  // MARK: Codes in use

  /// Whether `code` stands for a key that is down.
  private func isDown(_ code: KeyCode?, on device: DeviceID) -> Bool {
    redactedCodes.contains {
      $0.value == code && $0.key.device == device && heldKeys.isDown($0.key)
    }
  }

  /// Forgets the codes of keys that are up and that no bounce can follow any more.
  private mutating func forgetUnused(on device: DeviceID, at time: Time) {
    redactedCodes = redactedCodes.filter { key, _ in
      key.device != device || heldKeys.isDown(key) || debouncer.isBounce(key, at: time)
    }
  }

  // MARK: Choosing a code

  /// Whether the key keeps its code whatever is held with it.
  private func alwaysKeepsCode(_ key: DeviceKey) -> Bool {
    // If the release of a bound key was not seen, the key's next press ends the chord that its last
    // press began, so both must have the same code.
    if bindings.boundKeys.contains(key.code), redactedCodes[key] == key.code { return true }
    switch key.code.meaning {
    case .shift, .altGr, .bound: return true
    // While such a key is held, Shift is part of a shortcut. If two presses of one key had
    // different codes, the key could seem to be held for ever.
    case .navigation, .button: return bindings.boundKeys.contains(key.code)
    case .character, .other, .inert: return key.code.isModifier
    }
  }

  /// The key's own code if `keepsCode`. Otherwise the first of these codes that exists: the code
  /// that stands for the key already, the shared code, the lowest free code that the device has,
  /// the lowest free code, the lowest code.
  ///
  /// - Returns: `nil` if all codes of the key's meaning are bound.
  private func redactedCode(
    for key: DeviceKey, keepsCode: Bool, _ shared: inout [PressMeaning: KeyCode]
  ) -> KeyCode? {
    if keepsCode { return key.code }
    if let code = redactedCodes[key], !bindings.boundKeys.contains(code) { return code }
    let meaning = key.code.meaning
    if let code = shared[meaning] { return code }
    let all = (1...KeyCode.max).lazy.map(KeyCode.init(unchecked:)).filter { code in
      code.meaning == meaning && !code.isModifier && !bindings.boundKeys.contains(code)
    }
    let used = Set(redactedCodes.lazy.filter { $0.key.device == key.device }.map(\.value))
    let free = all.filter { !used.contains($0) }
    shared[meaning] =
      free.first { keysOfDevices[key.device]?.contains($0) != false } ?? free.first ?? all.first
    return shared[meaning]
  }
}
