/// Hides the typed keys of recorded inputs such that the inputs still cause the same changes.
///
/// The redactor decides for each press, and hides every key that is not known to be needed: Shift,
/// the other modifiers, and presses that complete a bound chord keep their codes. Every other press
/// of a character key gets the lowest code of a character key that is neither down nor in any
/// binding, and every other press of a non-character key gets such a code of a non-character key. A
/// release or autorepeat has the code of its press. The result shows that and when a character was
/// typed, but not which one.
///
/// With debouncing (``Settings/debounce``), a bounce has the code of the press that it continues,
/// and the code of a released key is not given to another press while the key may still bounce.
public struct Redactor: Sendable {
  private struct Device: Sendable {
    /// The keys that the device has; `nil` if they are unknown. Playing the recording would lose
    /// codes that the device lacks.
    let present: KeySet?

    /// The keys that are down, in the order of their presses, with the code written for each.
    var written: [(key: KeyCode, code: KeyCode)] = []

    /// The keys released so recently that a press of them may be a bounce, with their codes.
    var released: [(key: KeyCode, code: KeyCode)] = []
  }

  private let bindings: Bindings
  private let debounce: Duration
  private let boundKeys: Set<KeyCode>
  private var keys = HeldKeysOfAll()
  private var devices: [DeviceID: Device] = [:]

  /// A redactor that keeps the chords of `bindings` and the bounces within `debounce`.
  public init(bindings: Bindings, debounce: Duration = .zero) {
    self.bindings = bindings
    self.debounce = debounce
    boundKeys = bindings.keys
  }

  /// Sets which keys a device has. Call it before the device's first input.
  public mutating func add(_ device: DeviceID, keys: KeySet) {
    devices[device] = Device(present: keys)
  }

  /// The redacted `input`; `nil` if it must be left out of the recording.
  public mutating func redact(_ input: Controller.Input) -> Controller.Input? {
    switch input {
    case .opened(let id, let held):
      let index = keys.index(of: id)
      keys[index].forgetReleases()
      devices[id]?.released = []
      // The kernel reports held keys in code order. Replacing them in that order would reveal how
      // their codes compare.
      let codes = held.shuffled().compactMap { key in
        // The controller did not see these presses, so they completed no chord.
        keys[index].press(key)
        return write(key, as: isModifier(key) ? key : replacement(of: key, on: id), on: id)
      }
      return .opened(id, held: codes.sorted { $0.number < $1.number })
    case .key(let id, let event):
      guard let code = code(of: event.key, event.action, on: id, at: event.time) else { return nil }
      return .key(id, KeyEvent(time: event.time, key: code, action: event.action))
    case .synchronized(let id, let differences, let time):
      return .synchronized(id, redact(differences, on: id, at: time), at: time)
    case .gone(let id):
      keys.remove(id)
      devices[id]?.written = []
      devices[id]?.released = []
      return input
    case .client, .configured: return input
    }
  }

  /// Redacts differences, which come in code order, as held keys do. Keeps that order only where it
  /// affects the changes: among modifiers (which can be bound themselves), presses of bound keys,
  /// and the first press of a character. Sorts the rest by the written codes.
  private mutating func redact(
    _ differences: [KeyDifference], on id: DeviceID, at time: Time
  ) -> [KeyDifference] {
    var (ordered, rest): ([KeyDifference], [KeyDifference]) = ([], [])
    var hasCharacter = false
    for difference in KeyDifference.inOrderOfEffect(differences) {
      let action: KeyEvent.Action = difference.isDown ? .press : .release
      let isBounce = keys[keys.index(of: id)].wouldResume(difference.key, at: time, debounce)
      guard let code = code(of: difference.key, action, on: id, at: time) else { continue }
      // A bound key keeps its own code only if it completes a chord; then it types nothing.
      let isChord = boundKeys.contains(difference.key) && code == difference.key
      let types = difference.key.isCharacter && !isBounce && !isChord
      let written = KeyDifference(key: code, isDown: difference.isDown)
      let isFirst = !hasCharacter && types
      if difference.isDown, isModifier(code) || boundKeys.contains(code) || isFirst {
        hasCharacter = hasCharacter || types
        ordered.append(written)
      } else {
        rest.append(written)
      }
    }
    rest.sort { $0.key.number < $1.key.number }
    // Releases take effect first wherever they stand. The remaining presses have no effect only if
    // they come after those in `ordered`.
    return rest.filter { !$0.isDown } + ordered + rest.filter(\.isDown)
  }

  private mutating func code(
    of key: KeyCode, _ action: KeyEvent.Action, on id: DeviceID, at time: Time
  ) -> KeyCode? {
    let index = keys.index(of: id)
    switch action {
    case .press:
      let released = devices[id]?.released.first { $0.key == key }?.code
      let isBounce = keys[index].resume(key, at: time, debounce)
      let known = keys[index]
      devices[id]?.released.removeAll { !known.wouldResume($0.key, at: time, debounce) }
      if isBounce { return write(key, as: released, on: id) }
      let held = keys.modifiersHeld(without: key, index)
      keys[index].press(key)
      let isNeeded = isModifier(key) || bindings[Chord(held, key)] != nil
      return write(key, as: isNeeded ? key : replacement(of: key, on: id), on: id)
    case .release:
      guard keys[index].release(key, at: time, debounce) else { return nil }
      let place = devices[id]?.written.firstIndex { $0.key == key }
      let code = place.flatMap { devices[id]?.written.remove(at: $0).code }
      if let code, debounce > .zero { devices[id]?.released.append((key, code)) }
      return code
    case .autorepeat:
      let pressed = devices[id]?.written.first { $0.key == key }?.code
      return pressed ?? (isModifier(key) ? key : replacement(of: key, on: id))
    }
  }

  private mutating func write(_ key: KeyCode, as code: KeyCode?, on id: DeviceID) -> KeyCode? {
    var device = devices[id] ?? Device(present: nil)
    device.written.removeAll { $0.key == key }
    if let code { device.written.append((key, code)) }
    devices[id] = device
    return code
  }

  private func isModifier(_ key: KeyCode) -> Bool { !Modifiers(of: key).isEmpty }

  /// - Returns: an unbound code of the same class, character or not; `nil` if all are bound.
  private func replacement(of key: KeyCode, on id: DeviceID) -> KeyCode? {
    let device = devices[id] ?? Device(present: nil)
    // A key that is pressed again without a release keeps its code.
    if let before = device.written.first(where: { $0.key == key })?.code,
      before.isCharacter == key.isCharacter, !boundKeys.contains(before)
    {
      return before
    }
    let down = device.written.map(\.code) + device.released.map(\.code)
    let codes = (1...KeyCode.max).lazy.compactMap(KeyCode.init).filter { code in
      code.isCharacter == key.isCharacter && !isModifier(code) && !boundKeys.contains(code)
    }
    return codes.first { device.present?.contains($0) != false && !down.contains($0) }
      ?? codes.first { !down.contains($0) } ?? codes.first
  }
}
