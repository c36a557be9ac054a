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
  /// The device and the time of the last key event.
  private var last: (device: DeviceID, time: Int64)?

  /// What happens next.
  enum Step {
    case input(Controller.Input)
    /// These settings are in force from this time on.
    case configure(Settings, [Reference.Row], Time)
    /// The daemon wakes, although nothing happens.
    case wake(Time)
    /// The daemon is started anew, and these devices are there.
    case restart([DeviceID], Time)
  }

  init(_ bytes: [UInt8]) {
    choices = Choices(bytes)
    let flags = choices.byte()
    resumeAfter = choices.number(below: 64)
    grabs = choices.byte()
    // As long as the redactor knows it, as keymodectl does, it stays.
    debounce = grabs & 0x20 == 0 ? .zero : .milliseconds(1)
    configure(flags, choices.byte())
    if flags & 0x80 != 0 {
      var keys = KeySet()
      for key in Self.keys.prefix(12).compactMap({ KeyCode($0) }) { keys.insert(key) }
      ownKeys[devices[0]] = keys
    }
  }

  /// Keys that mean something, and some that do not.
  static let keys: [UInt16] = [
    42, 54, 29, 97, 56, 100, 125, 126, 30, 47, 2, 79, 57, 28, 103, 63, 1, 110, 70, 127, 0x24a,
    0x249, 0, 0x2ff, 67, 102, 0x110, 0x117, 0x118, 0x14a, 0x220, 0x2c0,
  ]

  /// What may lie between two inputs, in microseconds; a step back too.
  private static let steps: [Int64] = [
    0, 1, 100, 499, 500, 999, 1000, 50_000, 199_999, 200_000, 300_000, 499_999, 500_000, 500_001,
    -1, -1000, -499_999, -500_000, 29_999_999, 30_000_000, 60_000_000,
  ]

  /// All bindings that a script may have, by what makes a chord: two bits say which of them it has.
  private static let chords: [[(keys: [UInt16], event: CompiledTable.Event)]] = [
    [],
    [([125, 47], .clickSwitchButton), ([29, 30], .clickMoreButton), ([42, 57], .tapBlankArea)],
    [([30], .tapTextField), ([97, 56, 54, 126, 2], .clickMoreButton), ([29], .clickSwitchButton)],
    [([100], .tapBlankArea), ([126, 125], .clickMoreButton), ([56, 1], .clickSwitchButton)],
  ]

  /// All other triggers that a script may have: two bits say which of them it has.
  private static let otherTriggers: [[([UInt16], ChordTrigger, CompiledTable.Event)]] = [
    [],
    [
      ([67], .press, .clickSwitchButton), ([67], .release, .tapTextField),
      ([63], .hold(.milliseconds(300)), .clickMoreButton), ([0x110], .tap, .tapBlankArea),
    ],
    [
      ([30], .release, .clickMoreButton), ([30], .tap, .tapTextField),
      ([30], .hold(.microseconds(199_999)), .clickSwitchButton), ([29], .release, .clickMoreButton),
      ([42, 57], .release, .tapBlankArea), ([42, 67], .hold(.microseconds(1)), .clickMoreButton),
    ],
    [
      ([125, 47], .release, .tapBlankArea), ([103], .hold(.milliseconds(50)), .clickSwitchButton),
      ([103], .release, .tapTextField), ([100], .tap, .clickMoreButton),
      ([29, 102], .release, .clickMoreButton), ([0x14a], .release, .clickMoreButton),
      ([67], .release, .clickMoreButton), ([29, 67], .tap, .tapTextField),
    ],
  ]

  /// The shipped table, more than it, and another one without two of its events.
  private static let tables: [CompiledTable] = {
    let shipped = CompiledTable.shipped
    let more: [CompiledTable.Row] = [
      .init("editingText", "clickStickerButton", "showingStickers"),
      .init("showingStickers", "tapBlankArea", "prepareToEditText"),
      .init("showingStickers", "clickStickerButton", "editingText"),
    ]
    func table(
      states: [String], initial: String, events: [String], rows: [CompiledTable.Row]
    ) -> CompiledTable {
      do {
        return CompiledTable(
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

  private static let defaultRows: [Reference.Row] = [
    (UInt16(70), CompiledTable.Event.clickSwitchButton), (0x24a, .clickSwitchButton),
    (127, .clickMoreButton),
    (0x249, .clickMoreButton), (110, .tapTextField), (1, .tapBlankArea),
  ].map { Reference.Row(modifiers: [], key: $0.0, trigger: .press, event: $0.1) }

  private mutating func configure(_ flags: UInt8, _ more: UInt8) {
    let thresholds: [Duration] = [
      .milliseconds(500), .microseconds(1), .seconds(60), .nanoseconds(1500),
    ]
    var bindings = Bindings.default
    rows = Self.defaultRows
    let presses = Self.chords[Int(flags >> 3 & 3)].map { ($0.keys, ChordTrigger.press, $0.event) }
    for (numbers, trigger, event) in presses + Self.otherTriggers[Int(more & 3)] {
      let keys = numbers.compactMap { KeyCode($0) }
      guard let chord = try? Chord(keys) else { continue }
      guard bindings.bind(chord, trigger, to: event) == nil, let last = numbers.last else {
        continue
      }
      let modifiers = Set(numbers.dropLast().compactMap { Keys.modifier($0) })
      rows.append(Reference.Row(modifiers: modifiers, key: last, trigger: trigger, event: event))
    }
    settings = Settings(
      shift: ShiftRules(
        threshold: thresholds[Int(flags >> 1 & 3)],
        timeout: grabs & 0x10 == 0 ? nil : .milliseconds(700)),
      shiftTrigger: flags & 1 == 1 ? .tap : more & 0x0c == 0x0c ? .always : .press,
      shiftUsedBy: more & 0x40 == 0 ? .characters : .any,
      tapTimeout: .milliseconds(more & 0x10 == 0 ? 200 : 500),
      keyboard: Self.tables[Int(flags >> 5 & 3) % Self.tables.count], bindings: bindings,
      debounce: debounce, pointers: more & 0x20 == 0,
      locks: more & 0xc0 == 0xc0 ? [] : more & 0xc0 == 0x80 ? [.num] : [.caps, .num])
  }

  /// Whether the kernel says that a modifier which another program grabbed is up.
  mutating func isUp() -> Bool {
    defer { grabs = grabs << 1 | grabs >> 7 }
    return grabs & 1 == 1
  }

  mutating func next() -> Step? {
    guard !choices.isEmpty else { return nil }
    let (kind, which, place, step) =
      (choices.byte(), choices.byte(), choices.number(below: 3), choices.byte())
    let device = devices[place]
    advance(step)
    let now = Time(microseconds: time)
    if kind == 255 { return .wake(now) }
    if kind % 16 == 15, which >= 0x80 {
      return .restart(devices.indices.filter { which >> $0 & 1 == 0 }.map { devices[$0] }, now)
    }
    if kind % 16 == 15 {
      configure(which, choices.byte())
      return .configure(settings, rows, now)
    }
    let continuesFrame = kind & 0x10 != 0 && last?.device == device && last?.time == time
    let input = input(kind % 16, which, place, device, now, continuesFrame)
    if case .key? = input { last = (device, time) } else if input != nil { last = nil }
    return input.map(Step.input)
  }

  private mutating func input(
    _ kind: UInt8, _ which: UInt8, _ place: Int, _ device: DeviceID, _ now: Time,
    _ continuesFrame: Bool
  ) -> Controller.Input? {
    switch kind {
    case 0...9:
      let action: KeyEvent.Action = kind < 6 ? .press : kind < 9 ? .release : .autorepeat
      return .key(
        device,
        KeyEvent(time: now, key: key(which), action: action, continuesFrame: continuesFrame))
    case 10:
      let report = LEDReport(
        LEDs(rawValue: UInt16(which & 3)), on: LEDs(rawValue: UInt16(which >> 2 & which & 3)))
      return .leds(device, report, at: which & 0xf0 == 0xf0 ? nil : now)
    case 11:
      return .opened(device, held: (0..<which % 4).map { _ in key(choices.byte()) })
    case 12:
      let differences = (0..<which % 8).map { _ in
        KeyDifference(key: key(choices.byte()), isDown: choices.isTrue())
      }
      // libevdev finds each key once.
      var found: Set<KeyCode> = []
      return .synchronized(device, differences.filter { found.insert($0.key).inserted }, at: now)
    case 13:
      devices[place] = DeviceID(order: opened)
      opened += 1
      return .gone(device, at: now)
    default:
      let names = ["shiftPressed", "characterTyped"] + settings.keyboard.eventNames
      return ClientEvent(name: names[Int(which) % names.count], in: settings.machines)
        .map { .client($0, at: now) }
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
