import KeyboardModes
import TestSupport
import Testing

@testable import Timelines

extension Timeline {
  /// How many times are stored.
  fileprivate var stored: Int {
    shift.spans.count + keyboard.spans.count + presses.reduce(0) { $0 + $1.slots.count }
  }

  /// The maximum of ``stored``.
  fileprivate static let mostStored =
    Machine.allCases.count * Lane.mostSpans
    + Press.allCases.count * PressTimes.mostSlots
}

/// Random changes and presses with pauses of all lengths: bursts, breaks, and times that step back.
private struct Typist {
  var random: SplitMix64
  var time: Int64 = 0
  var states = ["off", "prepareToEditText"]
  let longestPause: Int64

  init(seed: UInt64, longestPause: Int64) {
    random = SplitMix64(seed: seed)
    self.longestPause = longestPause
  }

  mutating func pause() {
    // The longest pause is divided by ten a random number of times, so short ones are common too.
    var longest = longestPause
    while longest > 1 && random.next() % 2 == 0 { longest /= 10 }
    time += Int64(random.next() % UInt64(longest + 1)) - longest / 1000
  }

  mutating func nextChange() -> Change {
    let isShift = random.next() % 3 > 0
    let names = isShift ? ["off", "on", "capsLock"] : KeyboardRules.State.allCases.map(\.name)
    let from = states[isShift ? 0 : 1]
    let others = names.filter { $0 != from }
    let to = others[Int(random.next() % UInt64(others.count))]
    states[isShift ? 0 : 1] = to
    return change(isShift ? .shift : .keyboard, from, to, at: time)
  }

  mutating func nextPress() -> Timeline.Press { Timeline.Press.allCases[Int(random.next() % 4)] }
}

@Suite("Timeline: many changes")
struct ManyTests {
  @Test("a timeline of two million presses and changes stays small, and so does its picture")
  func millions() throws {
    var timeline = Timeline()
    var typist = Typist(seed: 1, longestPause: 10_000_000)
    var most = 0
    for number in 0..<2_000_000 {
      typist.pause()
      timeline.add(typist.nextPress(), at: at(typist.time))
      timeline.add(typist.nextChange())
      if number.isMultiple(of: 100) { most = max(most, timeline.stored) }
    }
    #expect(most <= Timeline.mostStored && most > Timeline.mostStored / 2)
    let picture = try drawing(timeline)
    #expect(timeline.presses.reduce(0) { $0 + $1.count } == 2_000_000)
    #expect(timeline.shift.changes + timeline.keyboard.changes == 2_000_000)
    #expect(picture.texts.contains { $0.text == "many changes" })
  }

  @Test("the spans that a timeline keeps match all of its changes", arguments: 1...12)
  func truth(_ seed: UInt64) throws {
    var timeline = Timeline()
    var typist = Typist(seed: seed, longestPause: [30, 3_000_000, 300_000_000_000][Int(seed % 3)])
    timeline.begin(at: at(-typist.longestPause))
    var entered: [Machine: [(state: String, time: Int64)]] = [:]
    for _ in 0..<Int(seed) * 2000 {
      typist.pause()
      let change = typist.nextChange()
      timeline.add(change)
      let before = entered[change.machine]?.last?.time ?? .min
      let time = max(change.time.microseconds, before)
      entered[change.machine, default: [(change.from, .min)]].append((change.to, time))
    }
    let period = try #require(timeline.period)
    let grain = Axis(period: period, zero: 0).duration(ofPixels: 3)
    for (machine, lane) in [(Machine.shift, timeline.shift), (.keyboard, timeline.keyboard)] {
      #expect(lane.spans.count <= Lane.mostSpans)
      var all = try #require(entered[machine])
      all[0].time = period.lowerBound
      let ends = all.dropFirst().map(\.time) + [period.upperBound]
      let stretches = zip(all, ends).map { (state: $0.state, start: $0.time, end: $1) }
      let drawn = lane.spans(in: period, grain: grain)
      #expect(drawn.reduce(0) { $0 + $1.states } == stretches.count)
      var place = 0
      for (span, isAlone) in zip(drawn, drawn.map { $0.state != nil }) {
        let covered = stretches[place..<(place + span.states)]
        #expect(span.start == covered.first?.start)
        if isAlone {
          #expect(covered.count == 1 && covered.first?.state == span.state.map { lane.names[$0] })
        } else {
          #expect(covered.count > 1 && covered.allSatisfy { $0.end - $0.start < grain })
        }
        place += span.states
      }
      // No two neighbours are left that could have been merged.
      for (one, next) in zip(drawn, drawn.dropFirst()) {
        #expect(one.state != nil || next.state != nil)
      }
    }
  }

  @Test("a burst of changes does not hide the states before it")
  func burst() throws {
    var timeline = Timeline()
    for second: Int64 in 1...200 {
      timeline.add(change(.shift, "off", "on", at: second * 1_000_000 - 1))
      timeline.add(change(.shift, "on", "off", at: second * 1_000_000))
    }
    for number: Int64 in 1...10_000 {
      let (from, to) = number.isMultiple(of: 2) ? ("on", "off") : ("off", "on")
      timeline.add(change(.shift, from, to, at: 200_000_000 + number))
    }
    timeline.end(at: at(201_000_000))
    let picture = try drawing(timeline)
    #expect(timeline.shift.spans.count < 2000)
    #expect(picture.shift.count { $0.tooltip.hasPrefix("off") } == 200)
    // The last `on` is part of the burst.
    #expect(picture.shift.count { $0.tooltip.hasPrefix("on") } == 199)
    #expect(picture.shift.count { $0.tooltip.hasPrefix("10000 changes") } == 1)
  }

  @Test("every press has a tick, and every tick a press", arguments: 1...8)
  func ticks(_ seed: UInt64) throws {
    var timeline = Timeline()
    var typist = Typist(seed: seed, longestPause: [30, 3_000_000, 300_000_000_000][Int(seed % 3)])
    var times: [[Int64]] = [[], [], [], []]
    for _ in 0..<(Int(seed) * 3000) {
      typist.pause()
      let press = typist.nextPress()
      times[press.rawValue].append(typist.time)
      timeline.add(press, at: at(typist.time))
    }
    let axis = Axis(period: try #require(timeline.period), zero: 0)
    let picture = try drawing(timeline)
    for (times, path) in zip(times, picture.ticks) {
      let presses = times.map(axis.x).sorted()
      #expect(farthest(from: path.starts, to: presses) <= 1, "a tick without a press")
      #expect(farthest(from: presses, to: path.starts) <= 1.6, "a press without a tick")
    }
  }

  @Test("the size of the picture is bounded in the worst case")
  func worst() throws {
    // States of three pixels and of zero duration alternate, with the longest names and times.
    var timeline = Timeline()
    let names = ["a", "b", "c", "d"].map { String(repeating: "&", count: 19) + $0 }
    let step: Int64 = (1 << 61) / 226
    timeline.begin(at: at(-1 << 60))
    for number in 0..<226 {
      let time = at(-(1 << 60) + Int64(number + 1) * step)
      for (machine, a) in [(Machine.shift, 0), (.keyboard, 2)] {
        timeline.add(change(machine, names[a], names[a + 1], at: time.microseconds))
        timeline.add(change(machine, names[a + 1], names[a], at: time.microseconds))
      }
      for press in Timeline.Press.allCases {
        for part: Int64 in 0..<4 {
          timeline.add(press, at: at(time.microseconds - part * step / 4))
        }
      }
    }
    let picture = try drawing(timeline)
    #expect(picture.shift.count > 450)
    let size = timeline.svg(title: "").utf8.count
    #expect(size > 200_000, "that was not the worst case")
  }

  /// The greatest distance of any of `points` to the nearest of `others`; both are sorted.
  private func farthest(from points: [Double], to others: [Double]) -> Double {
    var place = 0
    return points.map { point in
      while place + 1 < others.count, abs(others[place + 1] - point) <= abs(others[place] - point) {
        place += 1
      }
      return others.isEmpty ? .infinity : abs(others[place] - point)
    }.max() ?? 0
  }
}
