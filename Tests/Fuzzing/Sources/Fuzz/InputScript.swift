import KeyboardModes

/// Inputs of every kind, made up out of bytes: four for each, so that a changed byte changes one.
struct InputScript {
  private(set) var settings = Settings()
  private(set) var rows: [Reference.Row] = []
  /// After how many inputs another controller begins.
  let resumeAfter: Int
  /// The keys that some devices say they have.
  private(set) var ownKeys: [DeviceID: KeySet] = [:]

  private var debounce = Duration.zero
  private var choices: Choices
  private var time: Int64 = 0
  private var devices = [DeviceID(order: 0), DeviceID(order: 1), DeviceID(order: 2)]
  private var opened = 3
  private var grabs: UInt8 = 0

  init(_ bytes: [UInt8]) {
    choices = Choices(bytes)
    let flags = choices.byte()
    resumeAfter = choices.number(below: 64)
    grabs = choices.byte()
    // As long as the redactor knows it, as keymodectl does, it stays.
    debounce = grabs & 0x20 == 0 ? .zero : .milliseconds(1)
    configure(flags)
    if flags & 0x80 != 0 {
      var keys = KeySet()
      for key in Self.keys.prefix(12).compactMap({ KeyCode($0) }) { keys.insert(key) }
      ownKeys[devices[0]] = keys
    }
  }

  /// Keys that mean something, and some that do not.
  static let keys: [UInt16] = [
    42, 54, 29, 97, 56, 100, 125, 126, 30, 47, 2, 79, 57, 28, 103, 63, 1, 110, 70, 127, 0x24a,
    0x249, 0, 0x2ff,
  ]

  /// What may lie between two inputs, in microseconds; a step back too.
  private static let steps: [Int64] = [
    0, 1, 999, 1000, 50_000, 199_999, 200_000, 300_000, 499_999, 500_000, 500_001, -1, -1000,
    -499_999, -500_000, 60_000_000,
  ]

  /// All bindings that a script may have, by what makes a chord: two bits say which of them it has.
  private static let chords: [[(keys: [UInt16], event: KeyboardTable.Event)]] = [
    [],
    [([125, 47], .clickSwitchButton), ([29, 30], .clickMoreButton), ([42, 57], .tapBlankArea)],
    [([30], .tapTextField), ([97, 56, 54, 126, 2], .clickMoreButton), ([29], .clickSwitchButton)],
    [([100], .tapBlankArea), ([126, 125], .clickMoreButton), ([56, 1], .clickSwitchButton)],
  ]

  /// The shipped table, more than it, and another one without two of its events.
  private static let tables: [KeyboardTable] = {
    let shipped = KeyboardTable.standard
    let more: [KeyboardTable.Row] = [
      .init("editingText", "clickStickerButton", "showingStickers"),
      .init("showingStickers", "tapBlankArea", "prepareToEditText"),
      .init("showingStickers", "clickStickerButton", "editingText"),
    ]
    func table(
      states: [String], initial: String, events: [String], rows: [KeyboardTable.Row]
    ) -> KeyboardTable {
      do {
        return KeyboardTable(
          try .init(states: states, initial: initial, events: events, rows: rows))
      } catch {
        fatalError("\(error)")
      }
    }
    return [
      shipped,
      table(
        states: shipped.stateNames + ["showingStickers"], initial: "prepareToEditText",
        events: shipped.eventNames + ["clickStickerButton"], rows: shipped.rows + more),
      table(
        states: ["idle", "editingText"], initial: "idle",
        events: ["tapTextField", "clickStickerButton", "tapBlankArea"],
        rows: [
          .init("idle", "tapTextField", "editingText"),
          .init("editingText", "tapBlankArea", "idle"),
          .init("idle", "clickStickerButton", "editingText"),
        ]),
    ]
  }()

  private static let standard: [Reference.Row] = [
    (UInt16(70), KeyboardTable.Event.clickSwitchButton), (0x24a, .clickSwitchButton),
    (127, .clickMoreButton),
    (0x249, .clickMoreButton), (110, .tapTextField), (1, .tapBlankArea),
  ].map { Reference.Row(modifiers: [], key: $0.0, event: $0.1) }

  private mutating func configure(_ flags: UInt8) {
    let thresholds: [Duration] = [
      .milliseconds(500), .microseconds(1), .seconds(60), .nanoseconds(1500),
    ]
    var bindings = Bindings.standard
    rows = Self.standard
    for (numbers, event) in Self.chords[Int(flags >> 3 & 3)] {
      let keys = numbers.compactMap { KeyCode($0) }
      guard let chord = try? Chord(keys) else { continue }
      guard bindings.bind(chord, to: event) == nil, let last = numbers.last else { continue }
      let modifiers = Set(numbers.dropLast().compactMap { Reference.modifier($0) })
      rows.append(Reference.Row(modifiers: modifiers, key: last, event: event))
    }
    settings = Settings(
      shift: ShiftRules(
        threshold: thresholds[Int(flags >> 1 & 3)],
        timeout: grabs & 0x10 == 0 ? nil : .milliseconds(700)),
      shiftTrigger: flags & 1 == 0 ? .press : .tap,
      keyboard: Self.tables[Int(flags >> 5 & 3) % Self.tables.count], bindings: bindings,
      debounce: debounce)
  }

  /// Whether the kernel says that a modifier which another program grabbed is up.
  mutating func isUp() -> Bool {
    defer { grabs = grabs << 1 | grabs >> 7 }
    return grabs & 1 == 1
  }

  mutating func next() -> Controller.Input? {
    guard !choices.isEmpty else { return nil }
    let (kind, which, place, step) =
      (choices.byte(), choices.byte(), choices.number(below: 3), choices.byte())
    let device = devices[place]
    advance(step)
    let now = Time(microseconds: time)
    switch kind % 16 {
    case 0...5: return .key(device, KeyEvent(time: now, key: key(which), action: .press))
    case 6...8: return .key(device, KeyEvent(time: now, key: key(which), action: .release))
    case 9...10: return .key(device, KeyEvent(time: now, key: key(which), action: .autorepeat))
    case 11:
      return .opened(device, held: (0..<which % 4).map { _ in key(choices.byte()) })
    case 12:
      let differences = (0..<which % 8).map { _ in
        KeyDifference(key: key(choices.byte()), isDown: choices.isTrue())
      }
      return .synchronized(device, differences, at: now)
    case 13:
      devices[place] = DeviceID(order: opened)
      opened += 1
      return .gone(device, at: now)
    case 14:
      let names = ["shiftPressed", "characterTyped"] + settings.keyboard.eventNames
      return ClientEvent(name: names[Int(which) % names.count], in: settings.keyboard)
        .map { .client($0, at: now) }
    default:
      configure(which)
      return .configured(settings, at: now)
    }
  }

  private func key(_ byte: UInt8) -> KeyCode {
    let number = byte < 192 ? Self.keys[Int(byte) % Self.keys.count] : UInt16(byte - 192) * 12
    guard let key = KeyCode(number) else { fatalError("no key has the number \(number)") }
    return key
  }

  private mutating func advance(_ step: UInt8) {
    switch step {
    case 255: time = .max
    case 254: time = .min
    default:
      time = time.addingReportingOverflow(Self.steps[Int(step) % Self.steps.count]).partialValue
    }
  }
}
