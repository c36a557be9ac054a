import Terminal
import Testing

@Suite("Command line: arguments")
struct ArgumentsTests {
  private func arguments(_ words: String) throws(UsageError) -> Arguments {
    try Arguments(
      words.split(separator: " ").map(String.init), flags: ["--flag"], options: ["--option"],
      repeatable: ["--list"])
  }

  @Test("options can stand anywhere, with their value apart or behind an equals sign")
  func options() throws {
    let given = try arguments("a --option x --flag b --list=1 --list 2=3 -")
    #expect(given.operands == ["a", "b", "-"])
    #expect(given["--option"] == "x")
    #expect(given.has("--flag"))
    #expect(given.values(of: "--list") == ["1", "2=3"])
    #expect(given.isGiven("--flag") && given.isGiven("--option") && given.isGiven("--list"))
    let none = try arguments("")
    #expect(!none.isGiven("--flag") && !none.isGiven("--option") && none["--option"] == nil)
  }

  @Test("after two dashes, everything is an operand")
  func dashes() throws {
    let given = try arguments("a -- --flag -- --unknown")
    #expect(given.operands == ["a", "--flag", "--", "--unknown"])
    #expect(!given.has("--flag"))
  }

  @Test(
    "invalid options are refused",
    arguments: [
      ("--unknown", "unknown option '--unknown'"), ("-f", "unknown option '-f'"),
      ("--flga", "unknown option '--flga'; did you mean '--flag'?"),
      ("--lst=x", "unknown option '--lst'; did you mean '--list'?"),
      ("--flag=x", "option '--flag' takes no value"),
      ("--option", "option '--option' needs a value"),
      ("--option=", "option '--option' needs a value"),
      ("--option a --option=b", "option '--option' is given twice"),
    ] as [(String, TerminalText)])
  func faults(_ words: String, _ message: TerminalText) {
    #expect(throws: UsageError(message)) { _ = try arguments(words) }
  }

  @Test(
    "a time is a number with a unit, or seconds, exact to the microsecond",
    arguments: [
      ("5s", 5_000_000), ("500ms", 500_000), ("2.5ms", 2500), ("0.001ms", 1), ("250us", 250),
      ("0.000001s", 1), ("999999999999us", 999_999_999_999), ("1m", 60_000_000),
      ("1.5h", 5_400_000_000), ("305h", 1_098_000_000_000),
      ("0", 0), ("12.5", 12_500_000), ("1.000001", 1_000_001), ("007.1", 7_100_000),
      ("999999999999.999999", 999_999_999_999_999_999),
    ] as [(String, Int64)])
  func seconds(_ text: String, _ expected: Int64) throws {
    #expect(try microseconds(of: text) == expected)
  }

  @Test(
    "a time in any other form is refused",
    arguments: [
      "", ".", "1.", ".5", "-1", "+1", "1e3", "1.1234567", "1000000000000", "1.2.3", "٣", "s", "ms",
      "5d", "999999999999h", "999999999999.9m", "2562047788.5h", "153722867280.95m",
      "5 s", "5S", "1.5us", "1.0001ms", "5min", ".5s",
      "1.s", "5sms",
    ])
  func badSeconds(_ text: String) {
    #expect(throws: UsageError("'\(text)' is not a time such as 500ms, 2.5s or, in seconds, 2.5")) {
      _ = try microseconds(of: text)
    }
  }
}

@Suite("Command line: tables and lists")
struct TableTests {
  @Test("the columns of a table are aligned, and its lines are cut at 80 characters")
  func table() {
    let lines = Table.lines([["a", "bb", "c"], ["aaa", "b"], ["ä", "", "\u{1b}"]])
    #expect(lines == ["a    bb  c", "aaa  b", "ä        \u{fffd}"])
    #expect(Table.lines([]) == [])
    let long = Table.lines([["a", String(repeating: "x", count: 90)]])
    #expect(long.map(\.description) == ["a  \(String(repeating: "x", count: 76))…"])
  }

  @Test("words are wrapped at 79 characters, and a longer word has its own line")
  func words() {
    let word = String(repeating: "x", count: 39)
    #expect(wrapped([word, word]).description == "\(word) \(word)")
    #expect(wrapped([word, word + "x"]).description == "\(word)\n\(word)x")
    let long = String(repeating: "y", count: 100)
    #expect(wrapped(["a", long, "\n"]).description == "a\n\(long)\n\u{fffd}")
    #expect(wrapped([]) == "")
  }

  @Test("numbers are padded in front, and texts behind; seconds have six digits after the point")
  func padding() {
    #expect(padded("ä", 3) == "ä  " && padded("abcd", 3) == "abcd")
    #expect(padded(-7, 4) == "  -7" && padded(0x2e8, 4, radix: 16, "0") == "02e8")
    #expect(padded(12345, 4, "0") == "12345")
    #expect(seconds(-1_500_000) == "-1.500000" && seconds(1_059_999) == "1.059999")
    #expect(seconds(.min) == "-9223372036854.775808")
  }

  @Test(
    "a list has commas and a conjunction",
    arguments: [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
  func list(_ words: [String], _ text: String) {
    #expect(listed(words) == text)
  }
}
