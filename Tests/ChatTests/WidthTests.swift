import Testing

@testable import chat

@Suite("The width of text on a terminal")
struct WidthTests {
  /// The columns in which terminals draw a character, and those that the chat leaves for it.
  static let widths: [(Character, Int, Int)] = [
    ("a", 1, 1), ("ö", 1, 1), ("o\u{308}", 1, 1), ("\u{301}", 0, 0), ("\u{ad}", 1, 1), ("ж", 1, 1),
    ("日", 2, 2), ("한", 2, 2), ("😀", 2, 2), ("❤\u{fe0f}", 2, 2), ("1\u{fe0f}\u{20e3}", 2, 2),
    ("ｱ", 1, 2), ("❤", 1, 2), ("€", 1, 2),
    // Drawn as one, or side by side.
    ("🇩🇪", 2, 4), ("👍🏽", 4, 4), ("👨\u{200d}👩\u{200d}👧", 6, 6),
    // Not assigned yet.
    ("\u{1fbff}", 2, 2),
  ]

  @Test("no character is drawn wider than the chat expects", arguments: widths)
  func width(_ character: Character, _ drawn: Int, _ expected: Int) {
    #expect(character.width == expected)
    #expect(drawn <= expected)
  }

  @Test(
    "a line is cut between characters",
    arguments: [
      ("", 3, [""]), ("abc", 3, ["abc"]), ("abcd", 3, ["abc", "d"]), ("a日本", 3, ["a日", "本"]),
      ("ab日", 3, ["ab", "日"]), ("日本", 1, ["日", "本"]),
      ("e\u{301}e\u{301}e", 2, ["e\u{301}e\u{301}", "e"]),
    ])
  func wrapped(_ text: String, _ columns: Int, _ expected: [String]) {
    #expect(text.wrapped(columns: columns) == expected)
  }

  @Test(
    "the end of a text begins with a whole character",
    arguments: [
      ("abc", 3, "abc"), ("abc", 2, "bc"), ("日本語", 4, "本語"), ("日本語", 5, "本語"),
      ("日本語", 1, ""), ("ae\u{301}", 1, "e\u{301}"), ("abc", 0, ""), ("abc", -1, ""),
    ])
  func end(_ text: String, _ columns: Int, _ expected: String) {
    #expect(text.end(columns: columns) == expected)
  }
}
