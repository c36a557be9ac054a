import KeyboardModes
import Replay
import Testing

@Suite("Replay: statistics and timeline")
struct SummaryTests {
  private let events = [
    "1.000000 2a 1", "1.050000 2a 0", "1.100000 1e 1", "1.600000 1e 2", "1.650000 1e 2",
    "1.700000 1e 0", "2.000000 6e 1", "2.100000 6e 0", "3.500000 3f 1", "3.600000 3f 0",
  ]

  private func statistics(
    _ events: [String], from: Double? = nil, until: Double? = nil, settings: Settings = Settings()
  ) throws -> ReplayStatistics {
    let replayed = try replay(
      events, from: from, until: until, settings: settings, collecting: true)
    return try #require(replayed.replay.statistics)
  }

  @Test("the statistics count events by kind, and presses by class")
  func counts() throws {
    let counted = try statistics(events)
    #expect(counted.presses == [.shift: 1, .bound: 1, .character: 1, .other: 1])
    #expect((counted.releases, counted.repeats, counted.losses) == (4, 2, 0))
    #expect(counted.bounces == 0)
    #expect(counted.changes == [.shift: 2, .keyboard: 1])
    #expect(counted.devices.count == 1)
    #expect(counted.duration == 2_600_000)
  }

  /// Shift, and Caps Lock beside it: `on` from the start, off at 2 s and on at 3 s.
  private static let locks = """
    # EVEMU 1.3
    L: 00 0
    L: 01 1
    E: 1.000000 0001 002a 0001
    E: 2.000000 0011 0001 0000
    E: 3.000000 0011 0001 0001

    """

  @Test("the changes of locks are counted too, and the picture has no lane for them")
  func locks() throws {
    let replayed = try replay(files: [Self.locks], collecting: true)
    let counted = try #require(replayed.replay.statistics)
    #expect(counted.changes == [.shift: 1, .caps: 3, .num: 1])
    #expect((counted.devices.count, counted.duration) == (1, 2_000_000))
    let picture = try #require(replayed.replay.timeline).svg(title: "a title")
    #expect(picture.contains("Shift changed 1 time and ended in on."))
    #expect(!picture.contains("caps ") && !picture.contains("Caps Lock"))
  }

  @Test("LEDs at the start are told at the first time, and a window has what they are then")
  func locksInWindow() throws {
    let whole = try replay(files: [Self.locks])
    #expect(
      whole.changes.map { "\($0.machine) \($0.to)" } == [
        "caps on", "num off", "shift on", "caps off", "caps on",
      ])
    #expect(whole.changes.prefix(3).allSatisfy { $0.time == second(1) })
    #expect(whole.replay.modes.locks == LockStates(caps: .on, num: .off))
    for (from, until, numbers) in [
      (1, 1, [1, 2, 3]), (1.5, nil, [4, 5]), (2, 2.5, [4]), (nil, 0.5, []), (3, 9, [5]),
    ] as [(Double?, Double?, [Int64])] {
      let part = try replay(files: [Self.locks], from: from, until: until)
      #expect(part.numbers == numbers)
    }
    let none = try replay(files: [Self.locks], settings: Settings(locks: []))
    #expect(none.changes.map(\.machine) == [.shift])
    let onlyHeader = try replay(files: ["# EVEMU 1.3\nL: 01 1\n"])
    #expect(onlyHeader.changes.isEmpty, "no time tells them")
  }

  @Test("the statistics end with the window, but include what is before it")
  func window() throws {
    let late = try statistics(events, from: 2)
    #expect(late.presses == [.shift: 1, .bound: 1, .character: 1, .other: 1])
    #expect(late.changes == [.shift: 2, .keyboard: 1])
    let early = try statistics(events, until: 1.65)
    #expect(early.presses == [.shift: 1, .character: 1])
    #expect((early.releases, early.repeats) == (1, 2))
    #expect(early.duration == 650_000)
  }

  @Test("a bounce is counted apart from presses")
  func bounces() throws {
    let bouncing = [
      "1.000000 2a 1", "1.001000 2a 0", "1.005999 2a 1", "1.080000 2a 0", "1.085000 2a 1",
    ]
    let counted = try statistics(bouncing, settings: Settings(debounce: .milliseconds(5)))
    #expect(counted.bounces == 1)
    #expect(counted.presses == [.shift: 2])
    #expect(counted.changes == [.shift: 2])
    let exact = try statistics(bouncing)
    #expect(exact.bounces == 0)
    #expect(exact.presses == [.shift: 3])
  }

  @Test("the duration is from the earliest to the latest time, in any order")
  func stepBack() throws {
    let counted = try statistics(["9.000000 2a 1", "3.000000 2a 0", "4.000000 2a 1"])
    #expect(counted.duration == 6_000_000)
  }

  @Test("an empty recording has no events and no duration, and can be drawn")
  func empty() throws {
    let counted = try statistics([])
    #expect(counted.presses == [:])
    #expect((counted.devices.count, counted.duration) == (0, 0))
    #expect(try picture([]).contains(">0 s · 0 changes · 0 presses<"))
  }

  private func picture(_ events: [String], from: Double? = nil) throws -> String {
    let replayed = try replay(events, from: from, collecting: true)
    return try #require(replayed.replay.timeline).svg(title: "a title")
  }

  @Test("the timeline has the window's presses, and begins in the states at its start")
  func timeline() throws {
    let typing = ["1.000000 2a 1", "1.050000 2a 0", "2.000000 1e 1", "2.100000 1e 0"]
    let picture = try picture(typing, from: 1.5)
    #expect(picture.contains("<title>on, 1.500000 to 2.000000 s (0.500000 s)</title>"))
    #expect(picture.contains("Shift changed 1 time and ended in off."))
    #expect(picture.contains("Pressed: 0 Shift keys, 0 bound keys, 1 characters, 0 other keys."))
    #expect(picture.contains(">0.6 s · 1 change · 1 press<"))
    let dated = try self.picture(typing.map { "133005018\($0)" }, from: 1.05)
    #expect(dated.contains("<title>off, 1.050000 to 1.100000 s"), "times as `replay` prints them")
    #expect(try self.picture(typing, from: 9).contains(">0 s · 0 changes · 0 presses<"))
  }
}
