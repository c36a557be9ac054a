import KeyboardModes
import Keyboards
import TestSupport
import Testing

private let first = DeviceID(order: 0)

@Suite("Redaction")
struct RedactorTests {
  /// What may be written of a line of a ``Timeline``, in the same notation with numbers of keys.
  private func redacted(_ line: String, _ settings: Settings = Settings()) throws -> String {
    var timeline = Timeline(settings)
    try timeline.play(line)
    var redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
    return timeline.inputs.compactMap { redactor.redact($0) }.map(text).joined(separator: " ")
  }

  private func text(_ input: Controller.Input) -> String {
    switch input {
    case .key(_, let event):
      return "\(event.key.number)\(["-", "+", "*"][Int(event.action.rawValue)])"
    case .opened(_, let held):
      return "opened[\(held.map { String($0.number) }.joined(separator: ","))]"
    case .synchronized(_, let found, _):
      let found = found.map { "\($0.key.number)\($0.isDown ? "+" : "-")" }
      return "sync[\(found.joined(separator: ","))]"
    case .gone: return "gone[]"
    case .missedRelease, .allOpened, .leds, .client, .configured: return "\(input)"
    }
  }

  @Test(
    "leaves Shift, the modifiers and bound keys, and of the rest only the class",
    arguments: [
      ("LEFTSHIFT+ Q LEFTSHIFT- RIGHTSHIFT", "42+ 2+ 2- 42- 54+ 54-"),
      ("LEFTCTRL+ C+ C* C- LEFTCTRL- LEFTMETA", "29+ 2+ 2* 2- 29- 125+ 125-"),
      ("ESC INSERT SCROLLLOCK COMPOSE", "1+ 1- 110+ 110- 70+ 70- 127+ 127-"),
      ("F5 UP+ UP* UP- RIGHTALT ENTER", "14+ 14- 102+ 102* 102- 100+ 100- 14+ 14-"),
      ("KP1 KP9 BTN_LEFT BTN_SIDE BTN_TOUCH", "2+ 2- 2+ 2- 272+ 272- 272+ 272- 256+ 256-"),
      // With more modifiers Esc is not bound.
      ("LEFTCTRL+ ESC", "29+ 14+ 14-"),
      // Keys that are down together have different codes, each its own to the end.
      ("H+ I+ H- I-", "2+ 3+ 2- 3-"),
      ("H+ I+ I- O+ H- O* O- X", "2+ 3+ 3- 3+ 2- 3* 3- 2+ 2-"),
      ("H+ F1+ I+ F2+ F1- F3+ H- I- F2- F3-", "2+ 14+ 3+ 15+ 14- 14+ 2- 3- 15- 14-"),
      // Pressed again without a release.
      ("H+ H+ H- I+", "2+ 2+ 2- 2+"), ("A+ S+ A- S+ S- A", "2+ 3+ 2- 3+ 3- 2+ 2-"),
      // Nothing is left of a release whose press was not seen.
      ("H- LEFTSHIFT- ESC- A+ A- A-", "2+ 2-"), ("H* LEFTSHIFT* ESC* UP*", "2* 42* 14* 102*"),
      // Keys that are found down together share a code, which goes up with the last of them.
      ("opened[A,LEFTCTRL,ESC,B] A- B- B", "opened[2,14,29] 2- 2+ 2-"),
      ("A+ sync[A-,X+,Y+,LEFTMETA+] X- Y-", "2+ sync[2-,125+,2+] 2-"),
      ("sync[A+,B+] C B* A+ A- B-", "sync[2+] 3+ 3- 2* 2+ 2-"),
      ("opened[UP,LEFT,Q,W] sync[UP-,Q-] LEFT- W-", "opened[2,102] sync[] 102- 2-"),
    ])
  func codes(_ line: String, _ expected: String) throws {
    #expect(try redacted(line) == expected)
  }

  @Test("leaves a bound key only where its chord is complete, and its code to no other key")
  func chords() throws {
    var settings = try Settings(text: "LEFTMETA+V tapTextField")
    #expect(
      try redacted("V+ V* V- LEFTMETA+ V+ V* V- LEFTMETA-", settings)
        == "2+ 2* 2- 125+ 47+ 47* 47- 125-")
    #expect(
      try redacted("LEFTMETA+ V+ LEFTMETA- V* V-", settings) == "125+ 47+ 125- 47* 47-")
    settings = try Settings(text: "LEFTMETA+1 tapTextField")
    #expect(try redacted("V 1+ 1-", settings) == "3+ 3- 3+ 3-")
  }

  @Test("gives a bounce the code of the press that goes on, and that code to no other press")
  func bounces() throws {
    let settings = Settings(debounce: .milliseconds(5))
    #expect(try redacted("A+ 1 A- 4999us A+ 1 A-", settings) == "2+ 2- 2+ 2-")
    #expect(try redacted("A+ 1 A- 4999us B+ 1000us A+ B-", settings) == "2+ 2- 3+ 2+ 3-")
    #expect(try redacted("A+ 1 A- 4999us B+ 1 A+ B-", settings) == "2+ 2- 3+ 2+ 3-")
    #expect(try redacted("A+ 1 A- 5 B", settings) == "2+ 2- 2+ 2-", "no more can be known")
    #expect(try redacted("A+ 1 A- 5 A", settings) == "2+ 2- 2+ 2-", "nor of a double letter")
    // Of keys with one code, only the bounce of the last is written.
    #expect(
      try redacted("sync[A+,S+] 9 A- 1 A+ 9 A- 1 S- 1 A+", settings) == "sync[2+] 2- 2+")
  }

  @Test("has codes that the device has, where it has any")
  func presentKeys() throws {
    var redactor = Redactor(bindings: .default)
    redactor.add(first, keys: KeySet(try ["KP7", "KP8", "KP9", "KPENTER", "NUMLOCK"].map(key)))
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

  // MARK: No typed code survives

  /// The same with names that stand for keys of one kind: `C1` types a character, `M1` moves the
  /// cursor, `N1` does neither.
  private func redacted(
    _ line: String, _ names: [String: String], debounce: Int
  ) throws -> String {
    let line = names.reduce(line) { $0.replacing($1.key, with: $1.value) }
    return try redacted(line, Settings(debounce: .microseconds(debounce)))
  }

  @Test("depends on nothing but the kinds of keys, and on nothing random", arguments: 0..<1000)
  func kindsAlone(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let characters = ["Q", "W", "E", "R", "A", "S", "D", "Z", "1", "2", "SPACE", "COMMA"]
    let others = ["F1", "F2", "F3", "NUMLOCK", "ENTER", "BACKSPACE"]
    let cursor = ["UP", "LEFT", "HOME", "PAGEDOWN"]
    let open = ["C1", "C2", "C3", "C4", "N1", "N2", "N3", "M1", "M2"]
    let all = open + ["LEFTSHIFT", "LEFTCTRL", "ESC", "INSERT"]
    var line: [String] = []
    for _ in 0..<40 {
      line.append("\(Int.random(in: 0..<8000, using: &generator))us")
      let some = all.shuffled(using: &generator).prefix(.random(in: 1...6, using: &generator))
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: line.append("opened[\(some.joined(separator: ","))]")
      case 1...4:
        let signs = some.map { "\($0)\(Bool.random(using: &generator) ? "+" : "-")" }
        line.append("sync[\(signs.joined(separator: ","))]")
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
    let text = line.joined(separator: " ")
    let once = try redacted(text, names(), debounce: seed % 2 * 5000)
    #expect(try redacted(text, names(), debounce: seed % 2 * 5000) == once)
  }

  // MARK: Equal replay

  /// Whether a replay of what is written makes the same changes.
  private func expectSameChanges(_ inputs: [Controller.Input], _ settings: Settings) {
    var original = Controller(settings: settings)
    var copy = Controller(settings: settings)
    var redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
    var (changes, copied): ([Change], [Change]) = ([], [])
    for input in inputs {
      changes += original.handle(input)
      if let written = redactor.redact(input) { copied += copy.handle(written) }
    }
    // Of releases whose press was not seen nothing is written, not even that time went by.
    changes += original.advance(to: Time(microseconds: .max))
    copied += copy.advance(to: Time(microseconds: .max))
    #expect(!changes.isEmpty)
    #expect(copied == changes)
  }

  @Test(
    "keeps the order of modifiers, bound keys and the first character that were found after a loss",
    arguments: [
      "LEFTCTRL+ LEFTMETA+ V+", "LEFTMETA+ LEFTCTRL+ V+", "V+ B+ SCROLLLOCK+", "ESC+ A+ S+",
      "A+ ESC+ V+ S+",
    ])
  func order(_ found: String) throws {
    // Bound by itself, Ctrl means something only before Meta is held.
    let settings = try Settings(text: "LEFTCTRL tapTextField, V clickMoreButton")
    let time = Time(microseconds: 5)
    expectSameChanges(
      [
        .client(.shiftPressed, at: time), .client(.keyboard(.tapTextField), at: time),
        .synchronized(first, try differences(found), at: time),
      ], settings)
  }

  @Test("changes nothing about what a recording replays to", arguments: 0..<200)
  func sameChanges(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let uses = [
      "LEFTMETA+V tapTextField", "LEFTCTRL+A clickMoreButton", "SCROLLLOCK release tapTextField",
      "INSERT tap tapBlankArea", "LEFTMETA+V release clickMoreButton", "LEFTCTRL+UP tapTextField",
      "LEFTALT+HOME hold 100 clickSwitchButton", "BTN_SOUTH tap clickMoreButton",
    ]
    var settings = try Settings(text: uses.prefix(2 + seed % 7).joined(separator: ","))
    settings.shiftTrigger = [.press, .tap, .press, .always][seed % 4]
    settings.shiftUsedBy = seed % 8 < 4 ? .characters : .any
    settings.pointers = seed % 9 != 1
    if seed % 3 == 1 { settings.debounce = .milliseconds(20) }
    if seed % 5 == 1 { settings.shift = ShiftRules(timeout: .milliseconds(700)) }
    let inputs = try randomInputs(1000, &generator)
    expectSameChanges(inputs, settings)
    let typed = try ["KP5", "SPACE", "END", "F5", "BTN_EXTRA", "BTN_TOUCH"].map(key)
    var redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
    for case .key(_, let event)? in inputs.map({ redactor.redact($0) }) {
      #expect(!typed.contains(event.key))
    }
  }
}
