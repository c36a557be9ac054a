import Evdev
import KeyboardModes
import StateMachines
import TestSupport
import Testing

private let first = DeviceID(order: 0)

@Suite("Redaction")
struct RedactorTests {
  /// Plays a line of keys, and returns what of it may be written, in the same notation with numbers.
  private func redacted(_ line: String, bindings: Bindings = .standard) throws -> String {
    var redactor = Redactor(bindings: bindings)
    return try line.split(separator: " ").compactMap { step -> String? in
      let action: KeyEvent.Action =
        switch step.last {
        case "+": .press
        case "-": .release
        default: .autorepeat
        }
      let event = KeyEvent(
        time: Time(microseconds: 0), key: try key(String(step.dropLast())), action: action)
      guard case .key(_, let written)? = redactor.redact(.key(first, event)) else { return nil }
      return "\(written.key.number)\(step.suffix(1))"
    }.joined(separator: " ")
  }

  private func bound(_ names: String...) throws -> Bindings {
    var bindings = Bindings.standard
    _ = bindings.bind(try Chord(names.map { try key($0) }), to: .tapTextField)
    return bindings
  }

  @Test("leaves Shift, the modifiers and bound keys, and of the rest only the class")
  func classes() throws {
    #expect(
      try redacted(
        "LEFTSHIFT+ Q+ Q- LEFTSHIFT- RIGHTSHIFT+ RIGHTSHIFT- LEFTCTRL+ C+ C* C- LEFTCTRL- LEFTMETA+ LEFTMETA-"
      ) == "42+ 2+ 2- 42- 54+ 54- 29+ 2+ 2* 2- 29- 125+ 125-")
    #expect(
      try redacted("ESC+ ESC- INSERT+ INSERT- SCROLLLOCK+ SCROLLLOCK- COMPOSE+ COMPOSE-")
        == "1+ 1- 110+ 110- 70+ 70- 127+ 127-")
    #expect(
      try redacted("F5+ F5- UP+ UP* UP- RIGHTALT+ RIGHTALT- ENTER+ ENTER-")
        == "14+ 14- 102+ 102* 102- 100+ 100- 14+ 14-")
    #expect(try redacted("KP1+ KP1- KP9+ KP9- KP5+ KP5-") == "2+ 2- 2+ 2- 2+ 2-")
  }

  @Test("gives keys that are down together different codes, each its own to the end")
  func rollover() throws {
    #expect(try redacted("H+ I+ H- I-") == "2+ 3+ 2- 3-")
    #expect(try redacted("H+ I+ I- O+ H- O* O- X+ X-") == "2+ 3+ 3- 3+ 2- 3* 3- 2+ 2-")
    #expect(
      try redacted("H+ F1+ I+ F2+ F1- F3+ H- I- F2- F3-")
        == "2+ 14+ 3+ 15+ 14- 14+ 2- 3- 15- 14-")
    #expect(try redacted("H+ H+ H- I+") == "2+ 2+ 2- 2+", "pressed again without a release")
  }

  @Test("leaves a bound key only where its chord is complete")
  func chords() throws {
    let bindings = try bound("LEFTMETA", "V")
    #expect(
      try redacted("V+ V* V- LEFTMETA+ V+ V* V- LEFTMETA-", bindings: bindings)
        == "2+ 2* 2- 125+ 47+ 47* 47- 125-")
    #expect(
      try redacted("LEFTMETA+ V+ LEFTMETA- V* V-", bindings: bindings)
        == "125+ 47+ 125- 47* 47-")
    #expect(try redacted("LEFTCTRL+ ESC+ ESC-") == "29+ 14+ 14-", "with more modifiers, not bound")
    // A code that is in any binding stands for nothing else.
    #expect(try redacted("V+ V-", bindings: bound("LEFTMETA", "1")) == "3+ 3-")
    #expect(try redacted("1+ 1-", bindings: bound("LEFTMETA", "1")) == "3+ 3-")
  }

  @Test("leaves nothing of a release whose press was not seen")
  func unseen() throws {
    #expect(try redacted("H- LEFTSHIFT- ESC- A+ A- A-") == "2+ 2-")
    #expect(try redacted("H* LEFTSHIFT* ESC* UP*") == "2* 42* 14* 102*")
  }

  @Test("has codes that the device has, where it has any")
  func presentKeys() throws {
    var redactor = Redactor(bindings: .standard)
    var pad = KeySet()
    for name in ["KP7", "KP8", "KP9", "KPENTER", "NUMLOCK"] { pad.insert(try key(name)) }
    redactor.add(first, keys: pad)
    func written(_ name: String) throws -> UInt16? {
      let event = KeyEvent(time: Time(microseconds: 0), key: try key(name), action: .press)
      guard case .key(_, let written)? = redactor.redact(.key(first, event)) else { return nil }
      return written.key.number
    }
    #expect(try written("KP9") == 71)
    #expect(try written("KP8") == 72)
    #expect(try written("KP7") == 73)
    #expect(try written("NUMLOCK") == 69)
    #expect(try written("A") == 2, "of a device that has no other, any")
  }

  @Test("gives a bounce the code of the press that goes on, and that code to no other press")
  func bounces() throws {
    var redactor = Redactor(bindings: .standard, debounce: .milliseconds(5))
    func written(_ line: String) throws -> String {
      var time: Int64 = 0
      return try line.split(separator: " ").compactMap { step -> String? in
        if let microseconds = Int64(step) {
          time += microseconds
          return nil
        }
        let event = KeyEvent(
          time: Time(microseconds: time), key: try key(String(step.dropLast())),
          action: step.last == "+" ? .press : .release)
        guard case .key(_, let written)? = redactor.redact(.key(first, event)) else { return nil }
        return "\(written.key.number)\(step.suffix(1))"
      }.joined(separator: " ")
    }
    #expect(try written("A+ 1000 A- 4999 A+ 1000 A-") == "2+ 2- 2+ 2-")
    _ = redactor.redact(.gone(first, at: Time(microseconds: 0)))
    #expect(try written("A+ 1000 A- 4999 B+ 1000 A+ B-") == "2+ 2- 3+ 2+ 3-", "A stays 2")
    _ = redactor.redact(.gone(first, at: Time(microseconds: 0)))
    #expect(try written("A+ 1000 A- 5000 B+ B-") == "2+ 2- 2+ 2-", "no more can be known")
    _ = redactor.redact(.gone(first, at: Time(microseconds: 0)))
    #expect(try written("A+ 1000 A- 5000 A+ A-") == "2+ 2- 2+ 2-", "nor of a double letter")
  }

  @Test("covers keys held at opening, and what was found after a loss")
  func heldAndLost() throws {
    var redactor = Redactor(bindings: .standard)
    let names = ["A", "LEFTCTRL", "ESC", "B"]
    let opened = redactor.redact(.opened(first, held: try names.map { try key($0) }))
    guard case .opened(_, let held)? = opened else { throw UnknownKey(name: "none") }
    #expect(held.map(\.number) == [2, 3, 14, 29])
    let found = redactor.redact(
      .synchronized(
        first,
        [
          .init(key: try key("X"), isDown: true), .init(key: try key("LEFTCTRL"), isDown: false),
          .init(key: try key("A"), isDown: false), .init(key: try key("Y"), isDown: false),
          .init(key: try key("LEFTMETA"), isDown: true),
        ], at: Time(microseconds: 5)))
    guard case .synchronized(_, let differences, let time)? = found else {
      throw UnknownKey(name: "none")
    }
    #expect(time == Time(microseconds: 5))
    #expect(differences.filter { !$0.isDown }.map(\.key.number).contains(29))
    #expect(differences.filter(\.isDown).map(\.key.number).contains(125))
    #expect(differences.count == 4)
    let releases = differences.filter { !$0.isDown }.map(\.key.number)
    #expect(releases == releases.sorted())
  }

  @Test("keeps a character found after a loss before what follows it, behind a bound one")
  func boundAndLost() throws {
    let bindings = try bound("V")
    var redactor = Redactor(bindings: bindings)
    var controller = Controller(settings: Settings(bindings: bindings))
    var redacted = controller
    let lost = Controller.Input.synchronized(
      first, try ["V", "B", "SCROLLLOCK"].map { .init(key: try key($0), isDown: true) },
      at: Time(microseconds: 5))
    var changes: ([Change], [Change]) = ([], [])
    for input in [.client(.shiftPressed, at: Time(microseconds: 1)), lost] {
      controller.take(input) { changes.0.append($0) }
      let written = redactor.redact(input)
      redacted.take(try #require(written)) { changes.1.append($0) }
    }
    #expect(changes.0.map(\.to) == ["on", "editingText", "off", "prepareToRecord"])
    #expect(changes.0 == changes.1)
  }

  @Test("leaves nothing of the order of codes in which the kernel lists keys")
  func order() throws {
    // Q and Z lie on either side of Shift.
    func written(_ names: [String]) throws -> [[UInt16]] {
      var redactor = Redactor(bindings: .standard)
      let keys = try names.map { try key($0) }
      guard case .opened(_, let held)? = redactor.redact(.opened(first, held: keys)),
        case .synchronized(_, let up, _)? = redactor.redact(
          .synchronized(
            first, keys.map { .init(key: $0, isDown: false) }, at: Time(microseconds: 0)))
      else { return [] }
      return [held.map(\.number), up.map(\.key.number)]
    }
    #expect(try written(["Q", "LEFTSHIFT"]) == [[2, 42], [2, 42]])
    #expect(try written(["LEFTSHIFT", "Z"]) == [[2, 42], [2, 42]])
    #expect(try written(["LEFTSHIFT", "Z", "X"]) == [[2, 3, 42], [2, 3, 42]])
  }

  /// What can be written of a line of keys with numbers for those that nothing may be left of: `C1`
  /// types a character, `M1` moves the cursor, `N1` does neither. `=` finds the keys that follow after a loss, `!` at opening, in
  /// the order of their codes; a number is the time until the next step, in microseconds.
  private func written(
    _ line: String, _ names: [String: String], debounce: Duration = .zero
  ) throws -> [Controller.Input?] {
    var redactor = Redactor(bindings: .standard, debounce: debounce)
    var time = Time(microseconds: 0)
    func found(_ step: Substring) throws -> (key: KeyCode, sign: Character) {
      let name = String(step.dropLast())
      return (try key(names[name] ?? name), step.last ?? "+")
    }
    return try line.split(separator: " ").compactMap { step in
      if let microseconds = Int64(step) {
        time = Time(microseconds: time.microseconds + microseconds)
        return nil
      }
      guard let kind = step.first, "=!".contains(kind) else {
        let (key, sign) = try found(step)
        let action: KeyEvent.Action = sign == "+" ? .press : sign == "-" ? .release : .autorepeat
        return redactor.redact(.key(first, KeyEvent(time: time, key: key, action: action)))
      }
      let all = try step.dropFirst().split(separator: ",").map(found)
        .sorted { $0.key.number < $1.key.number }
      return redactor.redact(
        kind == "!"
          ? .opened(first, held: all.map(\.key))
          : .synchronized(
            first, all.map { KeyDifference(key: $0.key, isDown: $0.sign == "+") }, at: time))
    }
  }

  @Test(
    "says nothing of which keys were found down after a loss, whatever becomes of them",
    arguments: [
      ("=C1+,C2+ C1-", 0), ("=C1+,C2+ C2* C1-", 0), ("=C1+,C2+,C3+ =C1-,C3- C2-", 0),
      ("=N1+,C1+,N2+,C2+ N2- C2-", 0), ("!C1+,C2+ C2-", 0), ("!N1+,C1+,N2+ =N2- N1*", 0),
      ("=C1+,C2+ C1+ C2+ C1-", 0), ("=C1+,C2+,C3+ =C2+,C3+ C3-", 0),
      ("=LEFTSHIFT+,C1+,C2+ LEFTSHIFT- C2- C1-", 0), ("=ESC+,C1+,C2+ C1- C2-", 0),
      ("LEFTCTRL+ =C1+,C2+,SCROLLLOCK+ C1-", 0),
      ("=C1+,C2+ 1000 =C1-,C2- 1000 C2+ C1+", 5000),
      ("=C1+,C2+ 1000 =C1-,C2- 1000 =C1+,C2+ C1-", 5000),
      ("=C1+,C2+,C3+ =C1-,C2- 9000 =C1+,C2+ C2- C3-", 5000),
    ] as [(String, Int)])
  func unordered(_ line: String, _ debounce: Int) throws {
    let debounce = Duration.microseconds(debounce)
    let names = [
      ["C1": "A", "C2": "S", "C3": "D", "N1": "F1", "N2": "F2"],
      ["C1": "M", "C2": "Q", "C3": "1", "N1": "F2", "N2": "F1"],
      ["C1": "D", "C2": "A", "C3": "S", "N1": "ENTER", "N2": "F5"],
      ["C1": "P", "C2": "SPACE", "C3": "2", "N1": "F5", "N2": "F1"],
    ]
    let all = try names.map { try written(line, $0, debounce: debounce) }
    for other in all { #expect(other == all[0]) }
  }

  @Test("depends on nothing but the classes of keys, and on nothing random", arguments: 0..<1000)
  func classesAlone(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let characters = ["Q", "W", "E", "R", "A", "S", "D", "Z", "1", "2", "SPACE", "COMMA"]
    let others = ["F1", "F2", "F3", "NUMLOCK", "ENTER", "BACKSPACE"]
    let cursor = ["UP", "LEFT", "HOME", "PAGEDOWN"]
    let open = ["C1", "C2", "C3", "C4", "N1", "N2", "N3", "M1", "M2"]
    let all = open + ["LEFTSHIFT", "LEFTCTRL", "ESC", "INSERT"]
    var line: [String] = []
    for _ in 0..<40 {
      line.append("\(Int.random(in: 0..<8000, using: &generator))")
      let some = all.shuffled(using: &generator).prefix(.random(in: 1...6, using: &generator))
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: line.append("!" + some.map { "\($0)+" }.joined(separator: ","))
      case 1...4:
        let signs = some.map { "\($0)\(Bool.random(using: &generator) ? "+" : "-")" }
        line.append("=" + signs.joined(separator: ","))
      default:
        for name in some {
          line.append(name + (["+", "-", "*"].randomElement(using: &generator) ?? "+"))
        }
      }
    }
    func names() -> [String: String] {
      let typed = characters.shuffled(using: &generator)
      let rest = others.shuffled(using: &generator)
      let moving = cursor.shuffled(using: &generator)
      let names = typed[..<4] + rest[..<3] + moving[..<2]
      return Dictionary(uniqueKeysWithValues: zip(open, names))
    }
    let debounce = Duration.milliseconds(seed % 2 * 5)
    let text = line.joined(separator: " ")
    let once = try written(text, names(), debounce: debounce)
    #expect(try written(text, names(), debounce: debounce) == once)
  }

  @Test("leaves modifiers found after a loss in the order in which they were found")
  func orderOfModifiers() throws {
    // Bound by itself, Ctrl means something only before Meta is held.
    let settings = Settings(bindings: try bound("LEFTCTRL"))
    for (line, states) in [
      ("LEFTCTRL+ LEFTMETA+", ["editingText"]), ("LEFTMETA+ LEFTCTRL+", []),
    ] {
      let found = Controller.Input.synchronized(
        first, try differences(line), at: Time(microseconds: 5))
      var redactor = Redactor(bindings: settings.bindings)
      for input in [found, redactor.redact(found)] {
        var controller = Controller(settings: settings)
        var changes: [String] = []
        controller.take(try #require(input)) { changes.append($0.to) }
        #expect(changes == states)
      }
    }
  }

  @Test("leaves bound keys found after a loss before the characters that follow them")
  func orderOfBoundKeys() throws {
    let lost = Controller.Input.synchronized(
      first, try differences("ESC+ A+ S+"), at: Time(microseconds: 5))
    var redactor = Redactor(bindings: .standard)
    for input in [lost, redactor.redact(lost)] {
      var controller = Controller()
      var events: [String] = []
      for event in [ClientEvent.shiftPressed, .keyboard(.tapTextField)] {
        controller.take(.client(event, at: Time(microseconds: 1))) { _ in }
      }
      controller.take(try #require(input)) { events.append($0.event) }
      #expect(events == ["tapBlankArea", "characterTyped"])
    }
  }

  @Test("gives a key that is pressed again without a release its code back")
  func pressedAgain() throws {
    #expect(try redacted("A+ S+ A- S+ S- A+ A-") == "2+ 3+ 2- 3+ 3- 2+ 2-")
  }

  /// The keys that mean something, and some that do not.
  private static let names = [
    "A", "V", "1", "KP5", "SPACE", "ENTER", "UP", "END", "HOME", "F5", "RIGHTALT", "LEFTCTRL",
    "RIGHTCTRL", "LEFTALT", "LEFTSHIFT", "RIGHTSHIFT", "LEFTMETA", "ESC", "INSERT", "SCROLLLOCK",
    "COMPOSE", "BTN_LEFT", "BTN_EXTRA", "BTN_TOUCH", "BTN_SOUTH",
  ]

  @Test("changes nothing about what a recording replays to", arguments: 0..<200)
  func sameChanges(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    var settings = Settings(bindings: try bound("LEFTMETA", "V"))
    _ = settings.bindings.bind(try Chord([key("LEFTCTRL"), key("A")]), to: .clickMoreButton)
    let uses: [([String], Use, KeyboardTable.Event)] = [
      (["SCROLLLOCK"], .release, .tapTextField), (["INSERT"], .tap, .tapBlankArea),
      (["LEFTMETA", "V"], .release, .clickMoreButton), (["LEFTCTRL", "UP"], .press, .tapTextField),
      (["LEFTALT", "HOME"], .hold(.milliseconds(100)), .clickSwitchButton),
      (["BTN_SOUTH"], .tap, .clickMoreButton),
    ]
    for (names, use, event) in uses.prefix(seed % 7) {
      #expect(settings.bindings.bind(try Chord(names.map(key)), use, to: event) == nil)
    }
    settings.shiftTrigger = [.press, .tap, .press, .always][seed % 4]
    settings.pointers = seed % 9 != 1
    if seed % 3 == 1 { settings.debounce = .milliseconds(20) }
    if seed % 5 == 1 { settings.shift = ShiftRules(timeout: .milliseconds(700)) }
    var original = Controller(settings: settings)
    var copy = Controller(settings: settings)
    var redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
    var (changes, copied): ([Change], [Change]) = ([], [])
    let typed = try ["KP5", "SPACE", "END", "F5", "BTN_EXTRA", "BTN_TOUCH"].map(key)
    for input in try randomInputs(1000, &generator) {
      original.take(input) { changes.append($0) }
      guard let written = redactor.redact(input) else { continue }
      if case .key(_, let event) = written { #expect(!typed.contains(event.key)) }
      copy.take(written) { copied.append($0) }
    }
    // Of releases whose press was not seen nothing is written, not even that time went by.
    original.advance(to: Time(microseconds: .max)) { changes.append($0) }
    copy.advance(to: Time(microseconds: .max)) { copied.append($0) }
    #expect(changes.count > 5)
    #expect(copied == changes)
  }

  /// Keys that are tapped, pressed, repeated and released on two devices, with losses in between.
  private func randomInputs(
    _ count: Int, _ generator: inout SplitMix64
  ) throws -> [Controller.Input] {
    let keys = try Self.names.map { try key($0) }
    var time = Time(microseconds: 0)
    var inputs: [Controller.Input] = []
    while inputs.count < count {
      let device = DeviceID(order: .random(in: 0..<2, using: &generator))
      let some = keys.shuffled(using: &generator).prefix(.random(in: 1..<4, using: &generator))
      func add(_ key: KeyCode, _ action: KeyEvent.Action, within longest: Int64 = 150_000) {
        time = Time(microseconds: time.microseconds + .random(in: 0...longest, using: &generator))
        inputs.append(.key(device, KeyEvent(time: time, key: key, action: action)))
      }
      switch Int.random(in: 0..<100, using: &generator) {
      case 0: inputs.append(.opened(device, held: Array(some)))
      case 1..<10: inputs.append(.gone(device, at: time))
      case 10..<15:
        let found = some.map { KeyDifference(key: $0, isDown: .random(using: &generator)) }
        inputs.append(.synchronized(device, found, at: time))
      case 15..<30: some.forEach { add($0, .press) }
      case 30..<45: keys.forEach { add($0, .release) }
      case 45..<55: some.forEach { add($0, .autorepeat) }
      case 55..<65:
        for key in some {
          for action in [KeyEvent.Action.press, .release, .press, .release, .press, .release] {
            add(key, action, within: 25_000)
          }
        }
      default:
        for key in some { for action in [KeyEvent.Action.press, .release] { add(key, action) } }
      }
    }
    return inputs
  }
}
