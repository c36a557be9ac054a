import KeyboardModes
import Replay
import TestSupport
import Testing

@Suite("Replay: locks and picture")
struct ReplayedPictureTests {
  /// Shift, and Caps Lock beside it: `on` from the start, off at 2 s and on at 3 s.
  private static let locks = """
    # EVEMU 1.3
    L: 00 0
    L: 01 1
    E: 1.000000 0001 002a 0001
    E: 2.000000 0011 0001 0000
    E: 3.000000 0011 0001 0001

    """

  @Test("the picture has a lane for a lock that is known, and none for another")
  func locks() throws {
    let replayed = try replay(files: [Self.locks], drawing: true)
    let picture = try #require(replayed.replay.timeline).svg(title: "a title")
    #expect(picture.contains(">2 s · \(replayed.changes.count) changes · 1 press<"))
    #expect(picture.contains(">Caps Lock<") == picture.contains(">Num Lock<"))
    #expect(picture.contains(">Caps Lock<"))
  }

  @Test("LEDs at the start are told at the first time, and a window has what they are then")
  func locksInWindow() throws {
    let whole = try replay(files: [Self.locks])
    #expect(
      whole.changes.map { "\($0.machine) \($0.to)" } == [
        "caps on", "num off", "shift on", "caps off", "caps on",
      ])
    #expect(whole.changes.prefix(3).allSatisfy { $0.time == second(1) })
    #expect(whole.replay.states.locks == LockStates(caps: .on, num: .off))
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

  @Test("an empty recording can be drawn")
  func empty() throws {
    #expect(try picture([]).contains(">0 s · 0 changes · 0 presses<"))
  }

  @Test("a bounce is not drawn as a press")
  func bounces() throws {
    let bouncing = [
      "1.000000 2a 1", "1.001000 2a 0", "1.005999 2a 1", "1.080000 2a 0", "1.085000 2a 1",
    ]
    for (debounce, presses) in [(Duration.milliseconds(5), 2), (.zero, 3)] {
      let picture = try picture(bouncing, settings: Settings(debounce: debounce))
      #expect(picture.contains("<title>Shift keys: \(presses) presses</title>"))
    }
  }

  private func picture(
    _ events: [String], from: Double? = nil, settings: Settings = Settings()
  ) throws -> String {
    let replayed = try replay(events, from: from, settings: settings, drawing: true)
    return try #require(replayed.replay.timeline).svg(title: "a title")
  }

  @Test("the timeline has the window's presses, and begins in the states at its start")
  func timeline() throws {
    let typing = ["1.000000 2a 1", "1.050000 2a 0", "2.000000 1e 1", "2.100000 1e 0"]
    let picture = try picture(typing, from: 1.5)
    #expect(picture.contains("<title>on, 1.500000 to 2.000000 s (0.500000 s)</title>"))
    #expect(picture.contains("<title>characters: 1 press</title>"))
    #expect(picture.contains(">0.6 s · 1 change · 1 press<"))
    let dated = try self.picture(typing.map { "133005018\($0)" }, from: 1.05)
    #expect(dated.contains("<title>off, 1.050000 to 1.100000 s"), "times as `replay` prints them")
    #expect(try self.picture(typing, from: 9).contains(">0 s · 0 changes · 0 presses<"))
  }
}
