import Testing

@testable import chat

/// Characters and changes of Shift, in every order in which a program can learn of them.
@Suite("Which characters Shift makes capitals")
struct CapitalsTests {
  /// What the program learns, with times in milliseconds.
  enum Step {
    /// A character is read.
    case read(Int64)
    /// keymoded reports a change.
    case change(String, at: Int64, to: String)

    static let pressed = Step.change("shiftPressed", at: 1000, to: "on")
    static let locked = Step.change("shiftPressed", at: 1200, to: "capsLock")
    static let typed = Step.change("characterTyped", at: 1500, to: "off")
    static let unlocked = Step.change("shiftPressed", at: 2000, to: "off")
  }

  struct Timeline: CustomTestStringConvertible {
    let testDescription: String
    let shift: String
    let steps: [Step]
    /// The characters at the end.
    let expected: String
    /// Each character as it was when it was read.
    let first: String

    init(
      _ name: String, from shift: String = "off", _ steps: [Step], _ expected: String,
      first: String
    ) {
      (testDescription, self.shift, self.steps) = (name, shift, steps)
      (self.expected, self.first) = (expected, first)
    }
  }

  static let timelines: [Timeline] = [
    Timeline("no Shift", [.read(1), .read(2)], "xx", first: "xx"),
    Timeline("the change comes first", [.pressed, .typed, .read(1510)], "X", first: "X"),
    Timeline("the character comes first", [.pressed, .read(1510), .typed], "X", first: "x"),
    Timeline("Shift comes last, too", [.read(1510), .pressed, .typed], "X", first: "x"),
    Timeline("at the same time, change first", [.pressed, .typed, .read(1500)], "X", first: "X"),
    Timeline("at the same time, read first", [.pressed, .read(1500), .typed], "X", first: "x"),
    Timeline(
      "what was read before the key is not its character",
      [.pressed, .read(1499), .typed, .read(1510)], "xX", first: "xX"),
    Timeline(
      "what was typed before Shift, and read after it",
      [.pressed, .read(1005), .read(1510), .typed], "xX", first: "xx"),
    Timeline(
      "only the first character", [.pressed, .typed, .read(1510), .read(1510), .read(1600)], "Xxx",
      first: "Xxx"),
    Timeline(
      "only the first character, before the change",
      [.pressed, .read(1510), .read(1510), .typed, .read(1600)], "Xxx", first: "xxx"),
    Timeline(
      "two capitals, all changes late",
      [
        .read(1510), .read(2310), .pressed, .typed,
        .change("shiftPressed", at: 2000, to: "on"), .change("characterTyped", at: 2300, to: "off"),
      ], "XX", first: "xx"),
    Timeline(
      "two capitals, all characters late",
      [
        .pressed, .typed, .change("shiftPressed", at: 2000, to: "on"),
        .change("characterTyped", at: 2300, to: "off"), .read(2400), .read(2400), .read(2400),
      ], "XXx", first: "XXx"),
    Timeline("the latest character", [.pressed, .typed, .read(2500)], "X", first: "X"),
    Timeline("the latest character, read first", [.read(2500), .pressed, .typed], "X", first: "x"),
    Timeline(
      "a change of another program's character", [.pressed, .typed, .read(2501)], "x", first: "x"),
    Timeline(
      "a character too late for a change", [.read(2501), .pressed, .typed], "x", first: "x"),
    Timeline(
      "a Shift that was used in a shortcut",
      [.pressed, .change("shiftUsed", at: 1100, to: "off"), .read(1200)], "x", first: "x"),
    Timeline("no key typed it", [.pressed, .read(1200)], "x", first: "x"),
    Timeline("Shift was on at first", from: "on", [.read(1501), .typed], "X", first: "x"),
    Timeline("capitals", [.pressed, .locked, .read(1500), .read(1600)], "XX", first: "XX"),
    Timeline("capitals at first", from: "capsLock", [.read(5)], "X", first: "X"),
    Timeline(
      "capitals, told late", [.read(1100), .read(1500), .pressed, .locked], "xX", first: "xx"),
    Timeline(
      "no capitals any more", from: "capsLock", [.read(1900), .unlocked, .read(2100)], "Xx",
      first: "Xx"),
    Timeline(
      "no capitals any more, told late", from: "capsLock", [.read(1900), .read(2100), .unlocked],
      "Xx", first: "XX"),
    Timeline(
      "read before the change, taken after it", from: "capsLock",
      [.unlocked, .read(1999), .read(2000)], "Xx", first: "Xx"),
    Timeline(
      "impossible times",
      [.change("characterTyped", at: -9_000_000_000_000_000, to: "off"), .read(5), .read(6)], "xx",
      first: "xx"),
    Timeline(
      "times of the future",
      [
        .change("shiftPressed", at: 9_000_000_000_000_000, to: "capsLock"),
        .change("characterTyped", at: 9_000_000_000_000_000, to: "off"), .read(5),
      ], "x", first: "x"),
  ]

  @Test(
    "a character is a capital by its time, in whatever order it and the changes arrive",
    arguments: timelines)
  func timeline(_ timeline: Timeline) {
    var capitals = Capitals()
    capitals.begin(timeline.shift)
    var letters: [Letter] = []
    var first = ""
    for step in timeline.steps {
      switch step {
      case .read(let time):
        letters.append(capitals.typed("x", at: time * 1000))
        first += letters.last?.text ?? ""
      case .change(let event, let time, let to):
        capitals.changed(by: event, to: to, at: time * 1000)
      }
    }
    #expect(first == timeline.first)
    #expect(letters.text == timeline.expected)
  }

  @Test(
    "capitals follow Unicode",
    arguments: [("ö", "Ö"), ("é", "É"), ("ß", "SS"), ("日", "日"), ("😀", "😀"), ("1", "1")])
  func unicode(_ small: String, _ capital: String) {
    var capitals = Capitals()
    capitals.begin("capsLock")
    #expect(capitals.typed(small, at: 1).text == capital)
  }

  @Test("what was typed long ago stays as it is, however much that is")
  func long() {
    var capitals = Capitals()
    var letters: [Letter] = []
    for number in 0..<1000 as Range<Int64> {
      let time = number * 1_000_000
      capitals.changed(by: "shiftPressed", to: "on", at: time)
      capitals.changed(by: "characterTyped", to: "off", at: time + 1)
      letters += [capitals.typed("x", at: time + 10), capitals.typed("x", at: time + 700_000)]
    }
    #expect(letters.text == String(repeating: "Xx", count: 1000))
  }
}
