import Keyboards
import Testing

@Suite("Device rules")
struct DeviceRulesTests {
  /// A name of the maximum length.
  private static let longName = String(repeating: "a", count: 255)

  @Test("all of 100,000 rules are applied in reasonable time", .timeLimit(.minutes(1)))
  func many() throws {
    let numbers = (0..<50_000).map { String($0 + 0x10000, radix: 16) }
    let texts = numbers.flatMap { ["device \($0)", "\($0.suffix(4)):0001"] }
    let patterns = texts.compactMap(DeviceRules.Pattern.init)
    #expect(patterns.count == 100_000)
    let rules = DeviceRules(ignore: patterns)
    let only = DeviceRules(only: patterns)
    for (name, vendor, isMatched) in [
      ("device 10000", 0xffff, true), ("device 1c34f", 0xffff, true), ("device", 0, true),
      ("device", 0xc34f, true), ("device", 0xc350, false), ("device 1c350", 0xffff, false),
    ] as [(String, UInt16, Bool)] {
      #expect(rules.allow(name: name, vendor: vendor, product: 1) == !isMatched)
      #expect(only.allow(name: name, vendor: vendor, product: 1) == isMatched)
    }
  }

  /// A matcher that tries all ways to divide a name among the stars would take too long.
  @Test(
    "a pattern with very many stars is matched in reasonable time", .timeLimit(.minutes(1)),
    arguments: ["*a", "*?", "?*", "**", "*[a-c]", "*[!b]"])
  func stars(_ part: String) {
    let stars = String(repeating: part, count: 120)
    let rules = DeviceRules(ignore: [.name("\(stars)b"), .name("\(stars)*c")])
    for (name, isAllowed) in [
      (Self.longName, true), ("\(Self.longName)b", false), ("\(Self.longName)cc", false),
      ("\(Self.longName)d", true),
    ] {
      #expect(rules.allow(name: name, vendor: 1, product: 1) == isAllowed)
    }
  }
}
