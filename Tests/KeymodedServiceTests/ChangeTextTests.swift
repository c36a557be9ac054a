import JSON
import KeyboardModes
import KeymodeInterface
import Testing

@Suite("A change written as bytes")
struct ChangeTextTests {
  @Test(
    "is its JSON",
    arguments: [
      ("off", "on", "shiftPressed"), ("", "", ""), ("a\"b", "c", "d"), ("a", "b\\c", "d"),
      ("a", "b", "c\n"), ("é", "→", "\u{7f}\u{1b}"),
      ("a", "b", String(repeating: "x", count: 5000)),
    ])
  func json(_ from: String, _ to: String, _ event: String) {
    let numbers: [Int64] = [
      0, 1, 9, 10, 99, 100, 1_234_567, 999_999_999_999_999_999, 1_000_000_000_000_000_000, .max,
    ]
    for machine in Machine.allCases {
      for number in numbers + numbers.map({ -$0 }) + [.min] {
        let change = Change(
          sequence: number, time: Time(microseconds: number), machine: machine, from: from, to: to,
          event: event)
        var bytes = Array("before".utf8)
        change.writeJSON(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "before" + change.json.text)
      }
    }
  }
}
