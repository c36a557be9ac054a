import KeyboardModes

/// A press that matched a chord with other triggers than its press.
struct ReferenceChord {
  let device: DeviceID
  let key: UInt16
  let pressed: Int64?
  var rows: [Reference.Row]
  /// Whether nothing else went down since the press.
  var isAlone = true
  var wasHeld = false
  var released: Int64?
  /// The number of its release.
  var order = 0

  func isOf(_ key: UInt16, _ device: DeviceID) -> Bool { self.key == key && self.device == device }

  var release: Reference.Row? { rows.first { $0.trigger == .release } }
  var tap: Reference.Row? { rows.first { $0.trigger == .tap } }

  var hold: (event: CompiledTable.Event, after: Duration)? {
    for row in rows { if case .hold(let duration) = row.trigger { return (row.event, duration) } }
    return nil
  }
}

/// What the rules say of active chords.
extension Reference {
  /// Whether the chord waits for its release alone, and no other device holds its key.
  func isTold(_ chord: ReferenceChord) -> Bool {
    chord.released == nil && chord.release != nil && due(chord) == nil
      && (chord.tap == nil || !chord.isAlone || chord.pressed == nil)
      && down.filter { $0.value[chord.key] != nil }.count == 1
      && settings.keyboard.eventNames.contains(awaits(chord) ?? "")
  }

  private func awaits(_ chord: ReferenceChord) -> String? {
    chord.release.map { settings.keyboard.name(ofEvent: $0.event) }
  }

  /// The releases that the next daemon has to know.
  var awaited: [(key: UInt16, event: String)] {
    activeChords.compactMap { chord in awaits(chord).map { (chord.key, $0) } }
  }

  /// The same with what is still awaited for the daemon before this one.
  var allAwaited: [AwaitedRelease] {
    (awaited + inherited).compactMap { key, event in
      KeyCode(key).map { AwaitedRelease(key: $0, event: event) }
    }
  }

  func due(_ chord: ReferenceChord) -> Int64? {
    guard let released = chord.released else { return holdDue(chord) }
    // What comes after it does not wait for it.
    let holds = activeChords.compactMap(holdDue).filter { $0 > released }
    return (holds + [later(released, settings.debounce)].compactMap(\.self)).min()
  }

  private func holdDue(_ chord: ReferenceChord) -> Int64? {
    chord.released != nil || chord.wasHeld ? nil : later(chord.pressed, chord.hold?.after)
  }

  mutating func begin(
    _ matched: [Row], _ key: UInt16, _ device: DeviceID, _ time: Time?, _ stamp: Time
  ) {
    for row in matched where row.trigger == .press { send(row.event, stamp) }
    let rest = matched.filter { $0.trigger != .press }
    guard !rest.isEmpty else { return }
    activeChords.append(
      ReferenceChord(device: device, key: key, pressed: time?.microseconds, rows: rest))
  }

  /// One release of the key.
  private mutating func end(_ place: Int, _ time: Time, isSeen: Bool = true) {
    let chord = activeChords.remove(at: place)
    if let tap = chord.tap, let pressed = chord.pressed, chord.isAlone, !chord.wasHeld, isSeen,
      isWithin(settings.tapTimeout, pressed, time.microseconds)
    {
      send(tap.event, time)
    }
    if let release = chord.release { send(release.event, time) }
  }

  mutating func releaseChords(_ key: UInt16, _ device: DeviceID, _ time: Time) {
    for place in activeChords.indices
    where activeChords[place].isOf(key, device) && activeChords[place].released == nil {
      activeChords[place].released = time.microseconds
      releaseCount += 1
      activeChords[place].order = releaseCount
    }
    if settings.debounce == .zero { settle() }
  }

  /// Ends what was released, the earliest first.
  private mutating func settle(on device: DeviceID? = nil) {
    let over = activeChords.filter { $0.released != nil && (device == nil || $0.device == device) }
    let first = over.min { ($0.released ?? 0, $0.order) < ($1.released ?? 0, $1.order) }
    guard let first, let released = first.released,
      let place = activeChords.firstIndex(where: { $0.order == first.order })
    else { return }
    end(place, Time(microseconds: released))
    settle(on: device)
  }

  /// A key goes down, or may have.
  mutating func endTaps() {
    settle()
    for place in activeChords.indices { activeChords[place].isAlone = false }
  }

  mutating func endChords(pressedAgain key: UInt16, _ device: DeviceID, _ time: Time) {
    while let place = activeChords.firstIndex(where: { $0.isOf(key, device) && $0.released == nil })
    {
      end(place, time, isSeen: false)
    }
  }

  mutating func endChords(on device: DeviceID, _ time: Time) {
    settle(on: device)
    while let place = activeChords.firstIndex(where: { $0.device == device }) {
      end(place, time, isSeen: false)
    }
  }

  mutating func endChords(unboundBy next: Settings, _ rows: [Row], _ time: Time) {
    settle()
    let old = settings.keyboard
    func isKept(_ row: Row) -> Bool {
      let name = old.name(ofEvent: row.event)
      return next.keyboard.eventNames.contains(name)
        && rows.contains {
          $0.key == row.key && $0.trigger == row.trigger
            && next.keyboard.name(ofEvent: $0.event) == name
        }
    }
    var place = 0
    while place < activeChords.count {
      let kept = activeChords[place].rows.filter(isKept)
      let isUnbound = activeChords[place].release.map { !isKept($0) } ?? kept.isEmpty
      if isUnbound {
        end(place, time, isSeen: false)
      } else {
        activeChords[place].rows = kept
        place += 1
      }
    }
  }

  mutating func resumeChords(_ key: UInt16, _ device: DeviceID, _ time: Time) {
    for place in activeChords.indices where activeChords[place].isOf(key, device) {
      activeChords[place].released = nil
    }
    guard let place = activeChords.firstIndex(where: { $0.isOf(key, device) }),
      let due = due(activeChords[place]), due <= time.microseconds
    else { return }
    actOnChord(place, Time(microseconds: due))
  }

  /// Something is due.
  mutating func actOnChord(_ place: Int, _ time: Time) {
    if let released = activeChords[place].released {
      end(place, Time(microseconds: released))
    } else if let hold = activeChords[place].hold {
      activeChords[place].wasHeld = true
      let isDone = activeChords[place].release == nil
      if isDone { activeChords.remove(at: place) }
      send(hold.event, time)
    }
  }

  // MARK: The daemon before this one

  mutating func inherit(_ key: UInt16, _ device: DeviceID) {
    let own = inherited.filter { $0.key == key }
    inherited.removeAll { $0.key == key }
    for (_, name) in own {
      guard let event = settings.keyboard.event(named: name) else { continue }
      let row = Row(modifiers: [], key: key, trigger: .release, event: event)
      down[device, default: [:]][key] = true
      activeChords.append(ReferenceChord(device: device, key: key, pressed: nil, rows: [row]))
    }
  }
}

/// The keys by what they can mean.
enum Keys {
  static func modifier(_ key: UInt16) -> String? {
    switch key {
    case 29, 97: "ctrl"
    case 56: "alt"
    case 42, 54: "shift"
    case 125, 126: "meta"
    default: nil
    }
  }

  static let commands: Set<String> = ["ctrl", "alt", "meta"]

  static let characters: Set<UInt16> = Set(
    [
      2...13, 16...27, 30...41, 43...53, 55...55, 57...57, 71...83, 86...86, 89...89, 98...98,
      117...117, 121...121, 124...124, 179...180,
    ].joined())

  static let altGr: UInt16 = 100
  static let navigation = Set(UInt16(102)...109)
  static let buttons = Set(UInt16(0x110)...0x117)
  /// Game pads, fingers and pens.
  static let nothing = Set([0x100...0x15f, 0x220...0x223, 0x2c0...0x2e7].joined())
    .subtracting(buttons)
}
