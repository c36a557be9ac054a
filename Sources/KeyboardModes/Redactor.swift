/// Replaces the key codes of recorded inputs, so that they do not tell what was typed but cause the
/// same changes.
///
/// Only codes that are known to be needed stay: those of Shift and the other modifiers, and of
/// presses that complete a bound chord. Any other press gets the lowest code of its ``KeyKind``
/// that is neither down nor bound. A release or repeat has the code of its press. What is left
/// tells that a character was typed, and when, but not which.
///
/// Keys that are found down together, after opening or a loss, are listed in the order of their
/// codes, and this order must not tell anything either. So those of one kind share one code, which
/// goes up when the last of them does: no rule asks how many such keys are down.
///
/// With ``Settings/debounce``, a bounce has the code of the press that it continues, and while a
/// release may still be followed by a bounce, its code stands for no other key. The times of a
/// device must not step back then; those of the kernel never do.
public struct Redactor: Sendable {
  /// A code that is written, and the keys for which it stands: they are down, or were released so
  /// recently that a press may be a bounce.
  private struct Written: Sendable {
    let code: KeyCode
    var keys: [KeyCode]
  }

  private let bindings: Bindings
  private let boundKeys: Set<KeyCode>
  private var held: HeldKeys
  private var written: [DeviceID: [Written]] = [:]
  /// The keys that a device has. Playing the recording would lose other codes.
  private var present: [DeviceID: KeySet] = [:]

  /// A redactor for these bindings and this debounce interval.
  public init(bindings: Bindings, debounce: Duration = .zero) {
    self.bindings = bindings
    boundKeys = bindings.keys
    held = HeldKeys(debounce: debounce)
  }

  /// Adds a device with its keys, before its first input.
  public mutating func add(_ device: DeviceID, keys: KeySet) { present[device] = keys }

  /// The input with replaced codes; `nil` if it must not be written and is not needed.
  public mutating func redact(_ input: Controller.Input) -> Controller.Input? {
    switch input {
    case .opened(let device, let keys):
      return .opened(device, held: redact(keys, heldBy: device))
    case .key(let device, let event):
      return redact(event.action, DeviceKey(device, event.key), at: event.time).map {
        .key(device, KeyEvent(time: event.time, key: $0, action: event.action))
      }
    case .missedRelease(let device, let key, let time):
      return release(DeviceKey(device, key), at: time).map {
        .missedRelease(device, $0, at: time)
      }
    case .synchronized(let device, let differences, let time):
      return .synchronized(device, redact(differences, on: device, at: time), at: time)
    case .gone(let device, _):
      held.remove(device)
      (written[device], present[device]) = (nil, nil)
      return input
    case .allOpened, .leds, .client, .configured: return input
    }
  }

  // MARK: One key

  private mutating func redact(
    _ action: KeyEvent.Action, _ key: DeviceKey, at time: Time
  ) -> KeyCode? {
    switch action {
    case .press:
      if held.isBounce(key, at: time) { return resume(key, at: time) }
      forgetReleases(on: key.device, at: time)
      let code = isNeeded(key) ? key.code : replacement(of: key)
      press(key, as: code, at: time)
      return code
    case .release: return release(key, at: time)
    case .autorepeat:
      if held.isDown(key), let code = code(of: key) { return code }
      return isAlwaysNeeded(key.code) ? key.code : replacement(of: key)
    }
  }

  private mutating func press(_ key: DeviceKey, as code: KeyCode?, at time: Time) {
    _ = held.press(key, at: time)
    write(key, as: code)
  }

  /// A bounce, which is not written while another key holds the code down.
  private mutating func resume(_ key: DeviceKey, at time: Time) -> KeyCode? {
    guard let code = code(of: key) else { return nil }
    let isHeld = isDown(code, on: key.device)
    _ = held.press(key, at: time)
    return isHeld ? nil : code
  }

  /// A release, which is not written while another key holds the code down.
  private mutating func release(_ key: DeviceKey, at time: Time) -> KeyCode? {
    guard held.release(key, at: time), let code = code(of: key) else { return nil }
    let isHeld = isDown(code, on: key.device)
    forgetReleases(on: key.device, at: time)
    return isHeld ? nil : code
  }

  // MARK: Keys that are found down

  private mutating func redact(_ keys: [KeyCode], heldBy device: DeviceID) -> [KeyCode] {
    held.open(device, [])
    // Opening forgot all bounces, so any time will do.
    forgetReleases(on: device, at: Time(microseconds: 0))
    var shared: [KeyKind: KeyCode] = [:]
    var codes: Set<KeyCode> = []
    for key in keys.map({ DeviceKey(device, $0) }) {
      // These presses were not seen, so only an earlier press of a key can have completed a chord.
      let isNeeded = isAlwaysNeeded(key.code) || completedChord(key)
      let code = isNeeded ? key.code : code(of: key, among: &shared)
      held.open(device, [key.code])
      write(key, as: code)
      if let code { codes.insert(code) }
    }
    return codes.sorted { $0.number < $1.number }
  }

  /// The differences come in the order of their codes, which must not be told. Only what decides
  /// changes stays: the order of modifiers, which can be bound themselves, the order of bound keys,
  /// and between which of these the first character stands. All releases take effect before the
  /// presses.
  private mutating func redact(
    _ differences: [KeyDifference], on device: DeviceID, at time: Time
  ) -> [KeyDifference] {
    let found = KeyDifference.inOrderOfEffect(differences)
    let released = found.filter { !$0.isDown }
      .compactMap { release(DeviceKey(device, $0.key), at: time) }
    forgetReleases(on: device, at: time)
    let down = found.filter(\.isDown).map { DeviceKey(device, $0.key) }
    let modifiers = down.filter { isModifier($0.code) }
      .compactMap { redact(.press, $0, at: time) }
    let others = press(down.filter { !isModifier($0.code) }, at: time)
    return released.sorted { $0.number < $1.number }.map { KeyDifference(key: $0, isDown: false) }
      + (modifiers + others).map { KeyDifference(key: $0, isDown: true) }
  }

  /// Presses keys, none a modifier, that were found down after a loss. Their codes are returned in
  /// an order that tells only what decides changes: the order of the bound keys, and which of them
  /// come before the first character.
  private mutating func press(_ keys: [DeviceKey], at time: Time) -> [KeyCode] {
    var shared: [KeyKind: KeyCode] = [:]
    var ordered: [KeyCode] = []
    var rest: Set<KeyCode> = []
    var characters: (codes: Set<KeyCode>, index: Int)?
    for key in keys {
      let isBounce = held.isBounce(key, at: time)
      let types = !isBounce && key.code.types(with: held.modifiers(without: key))
      let code =
        isBounce
        ? resume(key, at: time) : isNeeded(key) ? key.code : code(of: key, among: &shared)
      if !isBounce { press(key, as: code, at: time) }
      guard let code else { continue }
      guard !boundKeys.contains(code) else {
        ordered.append(code)
        continue
      }
      rest.insert(code)
      if types {
        characters = ((characters?.codes ?? []).union([code]), characters?.index ?? ordered.count)
      }
    }
    if let characters, let first = characters.codes.min(by: { $0.number < $1.number }) {
      ordered.insert(first, at: characters.index)
      rest.remove(first)
    }
    return ordered + rest.sorted { $0.number < $1.number }
  }

  /// The code of a key that was found down with others, which share one for each kind.
  private func code(of key: DeviceKey, among shared: inout [KeyKind: KeyCode]) -> KeyCode? {
    if let kept = kept(key) { return kept }
    let code = shared[key.code.kind] ?? replacement(of: key)
    shared[key.code.kind] = code
    return code
  }

  // MARK: What is written

  /// The code that stands for `key`.
  private func code(of key: DeviceKey) -> KeyCode? {
    written[key.device]?.first { $0.keys.contains(key.code) }?.code
  }

  /// Whether a key for which `code` stands is down.
  private func isDown(_ code: KeyCode, on device: DeviceID) -> Bool {
    written[device]?.first { $0.code == code }?
      .keys.contains { held.isDown(DeviceKey(device, $0)) } == true
  }

  private mutating func write(_ key: DeviceKey, as code: KeyCode?) {
    var all = written[key.device] ?? []
    for index in all.indices { all[index].keys.removeAll { $0 == key.code } }
    if let index = all.firstIndex(where: { $0.code == code }) {
      all[index].keys.append(key.code)
    } else if let code {
      all.append(Written(code: code, keys: [key.code]))
    }
    written[key.device] = all.filter { !$0.keys.isEmpty }
  }

  /// Forgets keys that are up and that no bounce can follow any more.
  private mutating func forgetReleases(on device: DeviceID, at time: Time) {
    for index in written[device]?.indices ?? 0..<0 {
      written[device]?[index].keys.removeAll { code in
        let key = DeviceKey(device, code)
        return !held.isDown(key) && !held.isBounce(key, at: time)
      }
    }
    written[device]?.removeAll { $0.keys.isEmpty }
  }

  // MARK: Codes

  private func isModifier(_ code: KeyCode) -> Bool { !Modifiers(of: code).isEmpty }

  /// Whether a press of `key` must keep its code.
  private func isNeeded(_ key: DeviceKey) -> Bool {
    isAlwaysNeeded(key.code) || completedChord(key)
      || bindings[Chord(held.modifiers(without: key), key.code)] != nil
  }

  /// Whether the last press of `key`, a bound key, kept its code. If its release was not seen, the
  /// next press ends the use that this one began, and so must have the same code.
  private func completedChord(_ key: DeviceKey) -> Bool {
    boundKeys.contains(key.code) && code(of: key) == key.code
  }

  /// Whether the key keeps its code whatever is held with it.
  private func isAlwaysNeeded(_ code: KeyCode) -> Bool {
    switch code.kind {
    case .special, .altGr: true
    // While such a key is held, Shift means nothing. If one press of it had another code than the
    // next, it could seem to be held for ever.
    case .navigation, .button: boundKeys.contains(code)
    case .character, .other, .inert: isModifier(code)
    }
  }

  /// The code that a key keeps when it is pressed again without a release.
  private func kept(_ key: DeviceKey) -> KeyCode? {
    code(of: key).flatMap { boundKeys.contains($0) ? nil : $0 }
  }

  /// - Returns: a code of the same kind, neither bound nor a modifier; `nil` if there is none.
  private func replacement(of key: DeviceKey) -> KeyCode? {
    if let kept = kept(key) { return kept }
    let used = (written[key.device] ?? []).map(\.code)
    let codes = (1...KeyCode.max).lazy.map(KeyCode.init(known:)).filter { code in
      code.kind == key.code.kind && !isModifier(code) && !boundKeys.contains(code)
    }
    let free = codes.filter { !used.contains($0) }
    return free.first { present[key.device]?.contains($0) != false } ?? free.first ?? codes.first
  }
}
