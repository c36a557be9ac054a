import KeyboardModes
import Testing

/// What the page says of the times of a recording, beside its order.
@Suite("Replay: times")
struct TimesTests {
  /// The changes, such as `on@1.5`, of a recording under a Shift that ends after 300 ms.
  private func changes(_ recording: String) throws -> [String] {
    let settings = Settings(shift: ShiftRules(timeout: .milliseconds(300)))
    let replayed = try replay(files: [recording], settings: settings)
    #expect(replayed.error == nil)
    return replayed.changes.map { "\($0.to)@\(Double($0.time.microseconds) / 1_000_000)" }
  }

  @Test("where times step back, nothing that has happened is undone")
  func stepBack() throws {
    // The press of 1.1 s comes after the timer of 1.3 s, which had to fire by 2 s.
    let events = evemu(["1.000000 2a 1", "2.000000 1d 1", "1.100000 2a 1", "1.200000 2a 0"])
    #expect(try changes(events) == ["on@1.0", "off@1.3"])
    let typed = evemu(["1.000000 2a 1", "1.200000 61 1", "1.100000 1e 1"])
    #expect(try changes(typed) == ["on@1.0", "off@1.2"])
    let later = evemu(["2.000000 3b 1", "1.000000 2a 1", "1.200000 1e 1"])
    #expect(try changes(later) == ["on@1.0", "off@1.2"])
  }

  @Test("each event of a report has the time of its own line")
  func severalTimes() throws {
    let report = """
      # EVEMU 1.3
      E: 1.000000 0001 002a 0001
      E: 1.200000 0001 001e 0001
      E: 1.250000 0000 0000 0000

      """
    #expect(try changes(report) == ["on@1.0", "off@1.2"])
  }

  @Test(
    "the keys of a report of differences have the time of the first, and its LEDs come before them")
  func differences() throws {
    let loss = """
      version: 1
      ndevices: 1
      devices:
      - node: x
        events:
        - evdev:
          - [1, 0, 1, 29, 1]
          - [1, 0, 0, 0, 0]
        - keymoded: lost
        - evdev:
          - [2, 0, 1, 29, 0]
          - [2, 100000, 1, 42, 1]
          - [2, 200000, 17, 1, 1]
          - [2, 300000, 0, 0, 0]

      """
    #expect(try changes(loss) == ["on@2.2", "on@2.0"])
    let replayed = try replay(files: [loss])
    #expect(replayed.changes.map(\.machine) == [.caps, .shift])
  }

  @Test(
    "events that are no keys end no time, and neither does a SYN_DROPPED without differences",
    arguments: [
      ("E: 5.000000 0004 0004 0042\n", false), ("E: 5.000000 0000 0000 0000\n", false),
      ("E: 5.000000 0000 0003 0000\nE: 5.000000 0001 001e 0001\n", false),
      ("E: 5.000000 0011 0001 0001\n", true), ("E: 5.000000 0001 001d 0001\n", true),
    ])
  func end(_ last: String, _ fires: Bool) throws {
    let start = "# EVEMU 1.3\nE: 1.000000 0001 002a 0001\nE: 1.000000 0000 0000 0000\n"
    let changes = try changes(start + last)
    #expect(changes.prefix(2) == (fires ? ["on@1.0", "off@1.3"] : ["on@1.0"]))
  }

  @Test("the first event, from which dates are counted, is that of a key or an LED")
  func firstEvent() throws {
    let dated = """
      # EVEMU 1.3
      E: 1330050180.500000 0004 0004 0042
      E: 1330050183.250000 0001 002a 0001

      """
    let replayed = try replay(files: [dated])
    #expect(replayed.changes.map { replayed.replay.clock.shown($0.time) } == [second(0.25)])
  }
}
