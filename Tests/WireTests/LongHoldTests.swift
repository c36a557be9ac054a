import KeyboardModes
import Testing
import Wire

@Suite("Keys that are held for a minute, in the statistics")
struct LongHoldTests {
  private let holds = [
    LongHold(device: "Stuck \"keyboard\"", isButton: false, since: Time(microseconds: 5)),
    LongHold(device: "Mouse", isButton: true, since: Time(microseconds: 7)),
  ]

  private func statistics(_ held: [LongHold]) -> StatisticsMessage {
    StatisticsMessage(
      started: Time(microseconds: 1), time: Time(microseconds: 99_000_000), changes: 2, clients: 3,
      missed: 4, devices: 5, losses: 6, reloads: 7, configuration: "current", held: held)
  }

  private func text(_ message: StatisticsMessage) -> String {
    var bytes: [UInt8] = []
    message.write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("they are written and read, and name no key", arguments: [0, 2])
  func written(_ count: Int) throws {
    let message = statistics(Array(holds.prefix(count)))
    let json = try JSON(parsing: text(message).utf8)
    #expect(StatisticsMessage(json) == message)
    #expect(json["held"]?.array?.count == count)
    guard count > 0 else { return }
    #expect(
      json["held"]?.array == [
        ["device": "Stuck \"keyboard\"", "kind": "modifier", "since": 5],
        ["device": "Mouse", "kind": "button", "since": 7],
      ])
  }

  @Test("an older daemon tells of none")
  func older() throws {
    let older = text(statistics([])).replacing(#","held":[]"#, with: "")
    #expect(try StatisticsMessage(JSON(parsing: older.utf8)) == statistics([]))
  }
}
