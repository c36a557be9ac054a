import Testing
import Wire

@Suite("JSON")
struct JSONTests {
  @Test(
    "a value is written compactly and parses to the same value",
    arguments: [
      "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808",
      #""""#, #""text""#, #""→ ü 😀""#, #""a\"b\\c""#, "[]", "{}", "[1,[2,[]],{}]",
      #"{"z":1,"a":{"b":[null,true,"x"]}}"#,
    ])
  func roundTrip(_ text: String) throws {
    #expect(try JSON(parsing: text.utf8).text == text)
  }

  @Test("white space, escapes and fractions are parsed")
  func reading() throws {
    #expect(
      try JSON(parsing: #" { "a" : [ 1 , 2.5, "\u00e9\n" ] } "#.utf8)
        == ["a": [1, .real(2.5), "é\n"]])
    #expect(JSON.string("\u{1}\n").text == #""\u0001\u000a""#)
  }

  @Test("unprintable characters are written as escapes that parse to the same text")
  func unprintable() throws {
    let name = "é\u{7f}\u{9b}31m\u{2028}\u{202e}\u{e0041}\"\n😀"
    let text = #""é\u007f\u009b31m\u2028\u202e\udb40\udc41\"\u000a😀""#
    #expect(JSON.string(name).text == text)
    #expect(try JSON(parsing: text.utf8) == .string(name))
  }

  @Test("each unprintable character is escaped, even as the only one", arguments: UInt8(1)...0x9f)
  func each(_ number: UInt8) throws {
    let (character, isPrintable) = (Unicode.Scalar(number), 0x20..<0x7f ~= number)
    let text = JSON.string("a\(character)").text
    #expect(text.unicodeScalars.contains(character) == isPrintable)
    #expect(try JSON(parsing: text.utf8) == .string("a\(character)"))
    // Characters are looked at in groups.
    for (before, after) in (0...17).map({ ($0, 17 - $0) }) {
      let (start, end) = (
        String(repeating: "~", count: before), String(repeating: " ", count: after)
      )
      let escaped = text.dropFirst(2).dropLast()
      #expect(JSON.string("\(start)\(character)\(end)").text == "\"\(start)\(escaped)\(end)\"")
    }
  }

  @Test("a text of any length is written whole, whatever stands before", arguments: 1000..<1050)
  func lengths(_ count: Int) throws {
    let (plain, escaped) = (
      String(repeating: "a", count: count), String(repeating: "é\n", count: count)
    )
    #expect(JSON.array([.string(plain), 1]).text == "[\"\(plain)\",1]")
    #expect(try JSON(parsing: JSON.string(escaped).text.utf8) == .string(escaped))
    #expect(JSON.array(Array(repeating: 7, count: count)).text.utf8.count == 2 * count + 1)
  }

  @Test(
    "invalid JSON is refused",
    arguments: [
      "", " ", "{", "[1,]", "nul", "1 2", "{1:2}", "'x'", #"{"a":1,"a":2}"#,
      "9223372036854775808", #""\ud800""#, #""\u0000""#, "\u{0}", "{}\u{0}", "01", "+1", "NaN",
      "}", "{}}", #"{"a":1,}"#, "{'a':1}", "/**/1", "\"a\nb\"", "\"a\tb\"", "Infinity", "0x10", "-",
      "1.",
      "\u{feff}{}", "\"\u{1b}[2J\"", #"[{"a":1,"a":2}]"#,
      #""\x41""#, #""\u12""#, #""\udc00""#, #""\udc00\ud800""#, #"{"a\u0000b":1}"#, "1e400",
    ])
  func refused(_ text: String) {
    #expect(throws: JSONError.self) { try JSON(parsing: text.utf8) }
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [
      [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0x61, 0xe2, 0x82, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
      [0x7b, 0x01, 0x7d, 0x01],
    ] as [[UInt8]])
  func encoding(_ bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSON(parsing: bytes) }
  }

  @Test("a value may be nested up to 16 deep")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try JSON(parsing: nested(16).utf8) }
    #expect(throws: JSONError("nested deeper than 16")) { try JSON(parsing: nested(17).utf8) }
    #expect(throws: JSONError.self) { try JSON(parsing: nested(100_000).utf8) }
    #expect(throws: Never.self) { try JSON(parsing: #""[[[[[[[[[[[[[[[[[[[[\"[[[[""#.utf8) }
  }

  @Test("members are accessed by name and values by type")
  func access() {
    let json: JSON = ["a": 1, "b": "x", "c": [true], "d": nil]
    #expect(json["a"]?.integer == 1)
    #expect(json["b"]?.string == "x")
    #expect(json["c"]?.array == [true])
    #expect(json["d"] == .null)
    #expect(json["e"] == nil)
    #expect(json["a"]?.string == nil)
    #expect(json["b"]?.integer == nil)
    #expect(JSON.array([])["a"] == nil)
  }
}
