import KeyboardModes
import Replay
import TestSupport
import Testing

/// Two presses of Shift, each followed by a character: four changes, at 1, 2, 3 and 4 seconds.
private let typing = [
  "1.000000 2a 1", "1.100000 2a 0", "2.000000 1e 1", "2.100000 1e 0", "3.000000 2a 1",
  "3.100000 2a 0", "4.000000 1e 1", "4.100000 1e 0",
]

@Suite("Replay: window")
struct WindowTests {
  @Test(
    "the window includes both of its ends",
    arguments: [
      (nil, nil, [1, 2, 3, 4]), (1, nil, [1, 2, 3, 4]), (2, nil, [2, 3, 4]),
      (2.000001, nil, [3, 4]), (4.000001, nil, []), (nil, 4, [1, 2, 3, 4]),
      (nil, 3.999999, [1, 2, 3]), (nil, 3, [1, 2, 3]), (nil, 2.999999, [1, 2]), (nil, 0.5, []),
      (2, 3, [2, 3]), (3, 3, [3]), (2.5, 2.9, []), (5, 6, []),
    ] as [(Double?, Double?, [Int64])])
  func edges(_ from: Double?, _ until: Double?, _ numbers: [Int64]) throws {
    #expect(try replay(typing, from: from, until: until).numbers == numbers)
  }

  @Test("the states and the time at the end are those of the last event in the window")
  func states() throws {
    let cut = try replay(typing, until: 3.05).replay
    #expect(cut.states.shift == "on")
    #expect(cut.time == second(3))
    let whole = try replay(typing).replay
    #expect(whole.states.shift == "off")
    #expect(whole.time == second(4.1))
    let before = try replay(typing, until: 0.5).replay
    #expect(before.states.shift == "off")
    #expect(before.time == nil)
  }

  @Test("times since 1970 count from the whole second of the first event")
  func dates() throws {
    let dated = typing.map { "133005018\($0)" }
    let part = try replay(dated, from: 1, until: 2)
    #expect(part.numbers == [2, 3])
    #expect(part.changes.map { part.replay.clock.shown($0.time) } == [second(1), second(2)])
    #expect(try replay(dated, from: 4).numbers == [])
  }

  @Test("a timeout at the end of the window acts, one after it does not")
  func timeouts() throws {
    let settings = Settings(shift: ShiftRules(timeout: .seconds(3)))
    let events = ["1.000000 2a 1", "1.100000 2a 0", "11.000000 3f 1"]
    for (from, until, numbers) in [
      (nil, nil, [1, 2]), (nil, 4, [1, 2]), (nil, 3.999999, [1]), (4, nil, [2]),
      (4.000001, nil, []), (2, 5, [2]),
    ] as [(Double?, Double?, [Int64])] {
      let replayed = try replay(events, from: from, until: until, settings: settings)
      #expect(replayed.numbers == numbers, "from \(from ?? 0) until \(until ?? 99)")
    }
    let timeout = try replay(events, until: 4, settings: settings)
    #expect(timeout.changes.last?.event == "timedOut")
    #expect(timeout.changes.last?.time == second(4))
    #expect(timeout.replay.time == second(4))
    #expect(try replay(Array(events.dropLast()), settings: settings).numbers == [1])
  }

  @Test("a tap counts at the time of its press, which can be before the window")
  func tapBeforeWindow() throws {
    let settings = Settings(shiftTrigger: .tap, tapTimeout: .milliseconds(500))
    let events = ["1.000000 2a 1", "1.200000 2a 0", "2.000000 1e 1"]
    #expect(try replay(events, settings: settings).changes.map(\.time) == [second(1), second(2)])
    let part = try replay(events, from: 1.1, settings: settings)
    #expect(part.changes.map(\.event) == ["characterTyped"])
  }

  @Test("a tap that could still bounce counts at the end of the recording")
  func pendingTap() throws {
    let settings = Settings(
      shiftTrigger: .tap, tapTimeout: .milliseconds(500), debounce: .milliseconds(5))
    let tap = ["1.000000 2a 1", "1.100000 2a 0"]
    let ended = try replay(tap, settings: settings)
    #expect(ended.changes.map(\.time) == [second(1)])
    #expect(ended.replay.states.shift == "on")
    // The end of the window decides nothing: the next event may be a bounce.
    let later = tap + ["1.200000 3f 1"]
    #expect(try replay(later, until: 1.104999, settings: settings).numbers == [])
    #expect(try replay(later, until: 1.105, settings: settings).numbers == [1])
  }

  @Test("the changes before an invalid line are yielded before its error")
  func badLine() throws {
    let text = evemu(typing) + "E: 5.000000 0001 zz 1\n"
    let replayed = try replay(files: [text])
    #expect(replayed.numbers == [1, 2, 3, 4])
    #expect(replayed.error?.line == 11)
    #expect(try replay(files: [text], until: 3).error == nil, "it is behind the window")
    #expect(try replay(files: [text], isLenient: true).error == nil)
  }

  @Test("a long recording makes the same changes whether or not it is drawn")
  func routes() throws {
    var random = SplitMix64(seed: 1)
    let codes = ["2a", "1e", "6e", "7f", "3f"]
    let events = (0..<6000).map { number in
      let seconds = "\(number / 100).\(number % 100 + 100)".replacing(".1", with: ".")
      return "\(seconds)0000 \(codes.randomElement(using: &random) ?? "") \(1 - number % 2)"
    }
    let settings = Settings(
      shift: ShiftRules(timeout: .milliseconds(35)), debounce: .milliseconds(15))
    for from in [nil, 0.0, 20.005] {
      let quick = try replay(events, from: from, settings: settings)
      let slow = try replay(events, from: from, settings: settings, drawing: true)
      #expect(quick.changes.count > 500)
      #expect(quick.changes == slow.changes)
      #expect(quick.replay.states == slow.replay.states)
      #expect(quick.replay.time == slow.replay.time)
    }
  }
}
