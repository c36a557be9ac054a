import KeyboardModes
import TestSupport
import Testing

@testable import Replay

/// Random changes and presses with pauses of all lengths: bursts, breaks, and times that step back.
private struct Typist {
  var random: SplitMix64
  var time: Int64
  var states = ["off", "prepareToEditText"]
  let longestPause: Int64

  init(seed: UInt64, longestPause: Int64) {
    random = SplitMix64(seed: seed)
    self.longestPause = longestPause
    time = longestPause
  }

  mutating func pause() {
    // The longest pause is divided by ten a random number of times, so short ones are common too.
    var longest = longestPause
    while longest > 1 && random.next() % 2 == 0 { longest /= 10 }
    time += Int64(random.next() % UInt64(longest + 1)) - longest / 1000
  }

  mutating func nextChange() -> Change {
    let isShift = random.next() % 3 > 0
    let names = isShift ? ["off", "on", "capsLock"] : CompiledTable.shipped.stateNames
    let from = states[isShift ? 0 : 1]
    let others = names.filter { $0 != from }
    let to = others[Int(random.next() % UInt64(others.count))]
    states[isShift ? 0 : 1] = to
    return change(isShift ? .shift : .keyboard, from, to, at: time)
  }

  mutating func nextPress() -> Timeline.PressClass { .allCases[Int(random.next() % 4)] }
}

@Suite("Timeline: many changes")
struct ManyTests {
  @Test("the picture of many presses and changes is small, and has a tick for every press")
  func many() throws {
    var timeline = timeline(from: 0)
    var typist = Typist(seed: 1, longestPause: 10_000_000)
    var times: [Timeline.PressClass: [Int64]] = [:]
    for _ in 0..<300_000 {
      typist.pause()
      let press = typist.nextPress()
      times[press, default: []].append(typist.time)
      timeline.add(press, at: at(typist.time))
      timeline.add(typist.nextChange())
    }
    #expect(timeline.svg(title: "").utf8.count < 300_000)
    let picture = try drawing(timeline)
    #expect(picture.texts.contains { $0.text == "many changes" })
    #expect(picture.texts[1].text.hasSuffix(" s · 300000 changes · 300000 presses"))
    // Every press has a tick, and every tick a press, to the pixel.
    let axis = Axis(period: timeline.period, zero: 0)
    for (press, path) in zip(Timeline.PressClass.allCases, picture.ticks) {
      let pressed = Set(times[press, default: []].map { Int(axis.x($0)) })
      let ticked = Set(path.starts.map { Int($0) })
      #expect(pressed.allSatisfy { !ticked.isDisjoint(with: [$0 - 1, $0, $0 + 1]) })
      #expect(ticked.allSatisfy { !pressed.isDisjoint(with: [$0 - 1, $0, $0 + 1]) })
    }
  }

  @Test("the spans that are drawn match all changes", arguments: 1...12)
  func truth(_ seed: UInt64) throws {
    var timeline = timeline(from: 0)
    var typist = Typist(seed: seed, longestPause: [30, 3_000_000, 300_000_000_000][Int(seed % 3)])
    var entered = [MachineName.shift, .keyboard].map {
      (machine: $0, states: [(name: String, time: Int64)]())
    }
    entered[0].states = [("off", 0)]
    entered[1].states = [("prepareToEditText", 0)]
    for _ in 0..<Int(seed) * 2000 {
      typist.pause()
      let change = typist.nextChange()
      timeline.add(change)
      let index = change.machine == .shift ? 0 : 1
      let last = entered[index].states.last?.time ?? 0
      entered[index].states.append((change.to, max(change.time.microseconds, last)))
    }
    let period = timeline.period
    let minSpan = Axis(period: period, zero: 0).minSpan
    for (machine, states) in entered {
      let lane = machine == .shift ? timeline.lanes[0] : timeline.lanes[1]
      let ends = states.dropFirst().map(\.time) + [period.upperBound]
      let stretches = zip(states, ends).map { (state: $0.name, start: $0.time, end: $1) }
      let drawn = lane.spans(mergingShorterThan: minSpan, until: period.upperBound)
      #expect(drawn.reduce(0) { $0 + $1.stateCount } == stretches.count)
      var place = 0
      for span in drawn {
        let covered = stretches[place..<(place + span.stateCount)]
        #expect(span.start == covered.first?.start)
        if let state = span.state {
          #expect(covered.map(\.state) == [state])
        } else {
          #expect(covered.count > 1 && covered.allSatisfy { $0.end - $0.start < minSpan })
        }
        place += span.stateCount
      }
      // No two neighbours are left that could have been merged.
      for (one, next) in zip(drawn, drawn.dropFirst()) {
        #expect(one.state != nil || next.state != nil)
      }
    }
  }
}
