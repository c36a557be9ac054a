import Testing

@testable import chat

@Suite("The keys in the bytes of a terminal")
struct ActionParserTests {
  private static func text(_ text: String) -> [Action] { text.unicodeScalars.map(Action.character) }

  static let texts: [(String, [Action])] = [
    ("a~ ", text("a~ ")), ("ö", text("ö")), ("e\u{301}", text("e\u{301}")),
    ("日本語", text("日本語")), ("😀👍🏽", text("😀👍🏽")), ("\u{fffd}", text("\u{fffd}")),
    ("a\r", [.character("a"), .enter]),
    ("\n\t\u{8}\u{7f}", [.enter, .tab, .backspace, .backspace]),
    ("\u{3}", [.interrupt]), ("\u{0}\u{1}\u{1f}\u{85}\u{9b}", []),
    ("\u{1b}[<0;5;8M\u{1b}[<0;5;8m", [.click(row: 7)]),
    // The wheel, the right button, and what is none.
    ("\u{1b}[<64;5;8M\u{1b}[<2;5;8M\u{1b}[<0;5M\u{1b}[M\u{1b}[<0;5;0M", []),
    ("\u{1b}[<0;5;-9223372036854775808M\u{1b}[<0;5;99999999999999999999M", []),
    // F9, F1, Alt+x, and Esc before a key that has a code of its own.
    ("\u{1b}[20~a", text("a")), ("\u{1b}OPa", text("a")), ("\u{1b}xa", text("a")),
    ("\u{1b}\ta", [.tab, .character("a")]), ("\u{1b}\u{1b}[20~a", text("a")),
  ]

  @Test("the same actions come, wherever the bytes are cut", arguments: texts)
  func cuts(_ text: String, _ expected: [Action]) {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      var parser = ActionParser()
      let actions = parser.parse(bytes[..<cut]) + parser.parse(bytes[cut...])
      #expect(actions == expected, "\(cut)")
      #expect(!parser.isInside)
    }
  }

  @Test(
    "what is no UTF-8 is left out, and hides no key",
    arguments: [
      [0xff], [0x80, 0x80, 0x80, 0x80, 0x80], [0xc3], [0xe6, 0x97], [0xf0, 0x9f, 0x98],
      // Too long, a surrogate, beyond Unicode.
      [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3, 0x1b, 0x5b, 0x32, 0x7e],
    ] as [[UInt8]])
  func malformed(_ bytes: [UInt8]) {
    for next in ["a", "ö", "日"] {
      var parser = ActionParser()
      let actions = parser.parse(bytes + next.utf8)
      #expect(actions == Self.text(next))
    }
  }

  @Test(
    "the parser says where more may follow",
    arguments: [
      ("\u{1b}", true), ("\u{1b}[", true), ("\u{1b}[2", true), ("\u{1b}O", true), ("a", false),
    ])
  func inside(_ text: String, _ expected: Bool) {
    var parser = ActionParser()
    _ = parser.parse(text.utf8)
    #expect(parser.isInside == expected)
  }
}
