/// Replaces the key codes of recorded inputs, so that they do not tell what was typed but cause the
/// same changes.
///
/// Only codes that are known to be needed stay: those of Shift and the other modifiers, and of
/// presses that complete a bound chord. Any other press gets the lowest code of its class that is
/// neither down nor bound. The classes are characters, keys that move the cursor, buttons of
/// pointers, AltGr, codes that mean nothing, and all others. A release or repeat has the code of its
/// press. What is left tells that a character was typed, and when, but not which.
///
/// Keys that are found down together, after opening or a loss, are listed in the order of their
/// codes, and this order must not tell anything either. Such keys share a group of codes. When
/// something happens to some keys of a group only, these get the lowest codes of the group,
/// whichever keys they are.
///
/// With ``Settings/debounce``, a bounce has the code of the press that it continues, and while a
/// release may still be followed by a bounce, its code stands for no other key.
public struct Redactor: Sendable {
  /// The code with which a key is written.
  private struct Written: Sendable {
    let key: KeyCode
    var code: KeyCode
    /// Keys of one group share their codes: nothing that was written tells which code is whose.
    var group: Int
    /// Whether the key is down. If not, it was just released, and a press may be a bounce.
    var isDown = true
  }

  private struct Device: Sendable {
    /// The keys that the device has. Playing the recording would lose other codes.
    let present: KeySet?

    /// The keys that are down, or may turn out to be.
    var written: [Written] = []
  }

  private let bindings: Bindings
  private let debounce: Duration
  private let boundKeys: Set<KeyCode>
  private var keys = HeldKeysOfAll()
  private var devices: [DeviceID: Device] = [:]

  /// The number of the newest group.
  private var lastGroup = 0

  /// A redactor for these bindings and this debounce interval.
  public init(bindings: Bindings, debounce: Duration = .zero) {
    self.bindings = bindings
    self.debounce = debounce
    boundKeys = bindings.keys
  }

  /// Adds a device with its keys, before its first input.
  public mutating func add(_ device: DeviceID, keys: KeySet) {
    devices[device] = Device(present: keys)
  }

  /// The input with replaced codes; `nil` if it must not be written and is not needed.
  public mutating func redact(_ input: Controller.Input) -> Controller.Input? {
    switch input {
    case .opened(let id, let held): return .opened(id, held: redact(held, on: id))
    case .key(let id, let event):
      let codes = codes(of: [event.key], event.action, on: id, at: event.time)
      return codes.first.map { .key(id, KeyEvent(time: event.time, key: $0, action: event.action)) }
    case .missedRelease(let id, let key, let time):
      let codes = codes(of: [key], .release, on: id, at: time)
      return codes.first.map { .missedRelease(id, $0, at: time) }
    case .synchronized(let id, let differences, let time):
      return .synchronized(id, redact(differences, on: id, at: time), at: time)
    case .gone(let id, _):
      keys.remove(id)
      devices[id]?.written = []
      return input
    case .allOpened, .client, .configured: return input
    }
  }

  private mutating func redact(_ held: [KeyCode], on id: DeviceID) -> [KeyCode] {
    let index = keys.index(of: id)
    keys[index].forgetReleases()
    devices[id]?.written.removeAll { !$0.isDown }
    let needed = held.filter { isAlwaysNeeded($0) || completedChord($0, on: id) }
    for key in needed {
      keys[index].press(key)
      write(key, as: key, on: id)
    }
    // The presses were not seen, so none of them completed a chord.
    let codes = press(together: held.filter { !needed.contains($0) }, on: id)
    return (needed + codes).sorted { $0.number < $1.number }
  }

  /// Differences are listed in the order of their codes. The changes depend on the order of modifiers,
  /// which can be bound themselves, of presses of bound keys, and of the first character among them.
  /// That order stays.
  private mutating func redact(
    _ differences: [KeyDifference], on id: DeviceID, at time: Time
  ) -> [KeyDifference] {
    let found = KeyDifference.inOrderOfEffect(differences)
    let index = keys.index(of: id)
    let released = codes(of: found.filter { !$0.isDown }.map(\.key), .release, on: id, at: time)
    forgetReleases(on: id, index, at: time)
    let down = found.filter(\.isDown).map(\.key)
    var ordered = down.filter(isModifier).flatMap { codes(of: [$0], .press, on: id, at: time) }
    let others = down.filter { !isModifier($0) }
    let bounced = others.filter { keys[index].wouldResume($0, at: time, debounce) }
    let needed = others.filter { !bounced.contains($0) && isNeeded($0, index) }
    let replaced = others.filter { !bounced.contains($0) && !needed.contains($0) }
    _ = codes(of: bounced, .press, on: id, at: time)
    _ = codes(of: needed, .press, on: id, at: time)
    _ = press(together: replaced, on: id)

    let characters = replaced.filter { $0.types(with: keys.modifiersHeld(without: $0, index)) }
    // It decides changes what the first character comes before, but not which key it is.
    let first = characters.compactMap { written($0, on: id) }.min { $0.number < $1.number }
    var rest = others.compactMap { written($0, on: id) }.filter { !boundKeys.contains($0) }
    for key in others {
      if let code = written(key, on: id), boundKeys.contains(code) { ordered.append(code) }
      guard key == characters.first, let first else { continue }
      ordered.append(first)
      rest.removeAll { $0 == first }
    }
    // Releases take effect before all presses, wherever they are listed. The presses that are left
    // decide nothing if they are listed last.
    return released.sorted { $0.number < $1.number }.map { KeyDifference(key: $0, isDown: false) }
      + (ordered + rest.sorted { $0.number < $1.number }).map {
        KeyDifference(key: $0, isDown: true)
      }
  }

  /// Presses keys that were found down at once and share their codes from now on.
  private mutating func press(together found: [KeyCode], on id: DeviceID) -> [KeyCode] {
    separate(found, on: id)
    let index = keys.index(of: id)
    let joining = Set(found.filter { kept($0, on: id) == nil })
    let codes = found.compactMap { key in
      keys[index].press(key)
      return kept(key, on: id) ?? write(key, as: replacement(of: key, on: id), on: id)
    }
    lastGroup += 1
    for entry in devices[id]?.written.indices ?? 0..<0 {
      guard let key = devices[id]?.written[entry].key, joining.contains(key) else { continue }
      devices[id]?.written[entry].group = lastGroup
    }
    return codes
  }

  /// The codes of several keys to which the same happens at the same time.
  private mutating func codes(
    of found: [KeyCode], _ action: KeyEvent.Action, on id: DeviceID, at time: Time
  ) -> [KeyCode] {
    separate(found, on: id)
    return found.compactMap { code(of: $0, action, on: id, at: time) }
  }

  /// Takes these keys out of their groups, with the lowest codes of the groups: the codes then tell
  /// only that something happened to some keys of a group.
  private mutating func separate(_ found: [KeyCode], on id: DeviceID) {
    guard var written = devices[id]?.written else { return }
    var others = Set(written.indices)
    var groups: [Int: Int] = [:]
    for entry in written.indices where found.contains(written[entry].key) {
      let (code, group) = (written[entry].code, written[entry].group)
      let lowest = others.filter {
        written[$0].group == group && written[$0].code.class == code.class
      }.min { written[$0].code.number < written[$1].code.number }
      guard let lowest else { continue }
      written[entry].code = written[lowest].code
      written[lowest].code = code
      others.remove(entry)
    }
    for entry in written.indices where !others.contains(entry) {
      let group = written[entry].group
      if groups[group] == nil {
        lastGroup += 1
        groups[group] = lastGroup
      }
      written[entry].group = groups[group] ?? group
    }
    devices[id]?.written = written
  }

  private mutating func code(
    of key: KeyCode, _ action: KeyEvent.Action, on id: DeviceID, at time: Time
  ) -> KeyCode? {
    let index = keys.index(of: id)
    let entry = devices[id]?.written.firstIndex { $0.key == key }
    switch action {
    case .press:
      if keys[index].resume(key, at: time, debounce) {
        if let entry { devices[id]?.written[entry].isDown = true }
        return written(key, on: id)
      }
      forgetReleases(on: id, index, at: time)
      let isNeeded = isNeeded(key, index)
      keys[index].press(key)
      return write(key, as: isNeeded ? key : replacement(of: key, on: id), on: id)
    case .release:
      guard keys[index].release(key, at: time, debounce), let entry else { return nil }
      let code = devices[id]?.written[entry].code
      devices[id]?.written[entry].isDown = false
      if debounce == .zero { devices[id]?.written.remove(at: entry) }
      return code
    case .autorepeat:
      return written(key, on: id) ?? (isModifier(key) ? key : replacement(of: key, on: id))
    }
  }

  /// Forgets releases that no bounce can follow any more.
  private mutating func forgetReleases(on id: DeviceID, _ index: Int, at time: Time) {
    keys[index].forgetReleases(notWithin: debounce, of: time)
    let known = keys[index]
    devices[id]?.written.removeAll { !$0.isDown && !known.wouldResume($0.key, at: time, debounce) }
  }

  /// The code with which a key that is down is written.
  private func written(_ key: KeyCode, on id: DeviceID) -> KeyCode? {
    devices[id]?.written.first { $0.key == key && $0.isDown }?.code
  }

  @discardableResult
  private mutating func write(_ key: KeyCode, as code: KeyCode?, on id: DeviceID) -> KeyCode? {
    var device = devices[id] ?? Device(present: nil)
    device.written.removeAll { $0.key == key }
    lastGroup += 1
    if let code { device.written.append(Written(key: key, code: code, group: lastGroup)) }
    devices[id] = device
    return code
  }

  private func isModifier(_ key: KeyCode) -> Bool { !Modifiers(of: key).isEmpty }

  /// Whether a press of `key` must keep its code.
  private func isNeeded(_ key: KeyCode, _ index: Int) -> Bool {
    if isAlwaysNeeded(key) { return true }
    if bindings[Chord(keys.modifiersHeld(without: key, index), key)] != nil { return true }
    return completedChord(key, on: keys[index].device)
  }

  /// Whether the last press of `key`, which is down, kept its code. If its release was not seen, its
  /// next press ends what it began, so it needs the same code.
  private func completedChord(_ key: KeyCode, on id: DeviceID) -> Bool {
    boundKeys.contains(key) && written(key, on: id) == key
  }

  /// Whether `key` keeps its code whatever is held with it.
  private func isAlwaysNeeded(_ key: KeyCode) -> Bool {
    if isModifier(key) { return true }
    // While such a key is held, Shift means nothing. If one press of it had another code than the
    // next, it could seem to be held for ever.
    let decidesOnShift = key.class == .navigation || key.class == .button
    return decidesOnShift && boundKeys.contains(key)
  }

  /// The code that a key keeps when it is pressed again without a release.
  private func kept(_ key: KeyCode, on id: DeviceID) -> KeyCode? {
    written(key, on: id).flatMap {
      $0.class == key.class && !boundKeys.contains($0) ? $0 : nil
    }
  }

  /// - Returns: `nil` if all such keys are bound.
  private func replacement(of key: KeyCode, on id: DeviceID) -> KeyCode? {
    if let kept = kept(key, on: id) { return kept }
    if key == .rightAlt { return key }  // It is a class of its own.
    let device = devices[id] ?? Device(present: nil)
    let used = device.written.map(\.code)
    let codes = (1...KeyCode.max).lazy.compactMap(KeyCode.init).filter { code in
      code.class == key.class && !isModifier(code) && !boundKeys.contains(code)
    }
    return codes.first { device.present?.contains($0) != false && !used.contains($0) }
      ?? codes.first { !used.contains($0) } ?? codes.first
  }
}
