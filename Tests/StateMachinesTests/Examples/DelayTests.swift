import ObservedMachines
import StateMachineTesting
import StateMachines
import Synchronization
import TestSupport
import Testing

/// A key that talks while it is held, and a little longer; two taps and it goes on talking.
struct Talk: TimedRules, DrawableRules {
  enum State: CaseIterable { case silent, talking, trailing, again, open, closing }
  enum Event: CaseIterable { case press, release, tap, gone, timedOut }

  var initial: State { .silent }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.silent, .press): .talking
    case (.talking, .release): .trailing
    case (.trailing, .press): .again
    case (.again, .tap): .open
    case (.again, .release): .trailing
    case (.open, .press): .closing
    case (.open, .gone): .silent
    case (.closing, .tap): .silent
    case (.closing, .release): .trailing
    case (.talking, .timedOut), (.trailing, .timedOut), (.open, .timedOut): .silent

    case (.silent, .release), (.silent, .tap), (.silent, .gone), (.silent, .timedOut): nil
    case (.talking, .press), (.talking, .tap), (.talking, .gone): nil
    case (.trailing, .release), (.trailing, .tap), (.trailing, .gone): nil
    case (.again, .press), (.again, .gone), (.again, .timedOut): nil
    case (.open, .release), (.open, .tap): nil
    case (.closing, .press), (.closing, .gone), (.closing, .timedOut): nil
    }
  }

  func timeout(of state: State) -> (after: Duration, event: Event)? {
    switch state {
    case .talking: (.seconds(600), .timedOut)
    case .trailing: (.milliseconds(300), .timedOut)
    case .open: (.seconds(3600), .timedOut)
    case .silent, .again, .closing: nil
    }
  }
}

/// A clock whose time passes when a test says so.
final class VirtualClock: Clock {
  struct Instant: InstantProtocol {
    var time: Duration
    func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
    func duration(to other: Instant) -> Duration { other.time - time }
    static func < (one: Instant, other: Instant) -> Bool { one.time < other.time }
  }

  private struct Sleeper {
    let id: Int
    let deadline: Instant
    let wake: CheckedContinuation<Void, any Error>
  }

  private let state = Mutex((now: Instant(time: .zero), begun: 0, sleepers: [Sleeper]()))
  private let (deadlines, asleep) = AsyncStream.makeStream(of: Instant.self)

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.begun += 1
      return state.begun
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wake in
        let isAwake = state.withLock { state in
          if Task.isCancelled || deadline <= state.now { return true }
          state.sleepers.append(Sleeper(id: id, deadline: deadline, wake: wake))
          return false
        }
        if isAwake { wake.resume() }
        asleep.yield(deadline)
      }
      try Task.checkCancellation()
    } onCancel: {
      wake { $0.id == id }
    }
  }

  private func wake(_ isDue: (Sleeper) -> Bool) {
    let due = state.withLock { state in
      defer { state.sleepers.removeAll(where: isDue) }
      return state.sleepers.filter(isDue)
    }
    for sleeper in due { sleeper.wake.resume() }
  }

  func advance(by duration: Duration) {
    let now = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      return state.now
    }
    wake { $0.deadline <= now }
  }

  /// Waits for the next who sleeps, until this deadline.
  func sleeper(until deadline: Duration) async {
    for await next in deadlines where next.time == deadline { return }
  }
}

@Suite("Example: delays", .timeLimit(.minutes(5)))
struct DelayTests {
  private func at(_ milliseconds: Int) -> VirtualClock.Instant {
    VirtualClock.Instant(time: .milliseconds(milliseconds))
  }

  @Test("what is due comes at its own time, and before an event of the same time")
  func due() {
    var talk = TimedMachine(Talk(), at: at(0))
    #expect(talk.deadline == nil && talk.send(at: at(50)).isEmpty)
    talk.send(.press, at: at(100))
    #expect(talk.state == .talking && talk.deadline == at(600_100))
    talk.send(.release, at: at(1000))
    #expect(talk.state == .trailing && talk.deadline == at(1300))
    #expect(talk.send(at: at(1299)).isEmpty)

    var (early, punctual, late) = (talk, talk, talk)
    early.send(.press, at: at(1299))
    #expect(early.state == .again && early.deadline == nil)
    let steps = punctual.send(.press, at: at(1300))
    #expect(steps.map(\.time) == [at(1300), at(1300)])
    #expect(steps.map(\.transition.to) == [.silent, .talking])
    #expect(late.send(at: at(9000)).map(\.time) == [at(1300)], "its own time, however late")
    #expect(late.state == .silent && late.deadline == nil)
  }

  @Test("a delay counts from entering the state, also anew; an ignored event leaves it")
  func counting() {
    var talk = TimedMachine(Talk(), in: .open, at: at(0))
    talk.send(.tap, at: at(5))
    #expect(talk.deadline == at(3_600_000))
    talk.send(.press, at: at(10))
    talk.send(.release, at: at(20))
    talk.send(.press, at: at(30))
    talk.send(.release, at: at(200))
    #expect(talk.state == .trailing && talk.deadline == at(500))

    var pulse = TimedMachine(Pulse(), at: at(0))
    #expect(pulse.send(at: at(35)).map(\.time) == [at(10), at(20), at(30)])
    pulse.send(1, at: at(36))
    #expect(pulse.deadline == at(40), "a new payload enters nothing")
    pulse.send(100, at: at(36))
    #expect(pulse.send(at: at(99)).isEmpty && pulse.deadline == nil, "the rules ignore the event")
  }

  @Test("the diagram has the delays, and all paths and walks take its arrows")
  func walking() {
    expectWalksAreDrawn(Talk(), ["after 10 min", "after 300 ms", "after 1 h"])
    expectWalksAreDrawn(Fuse(), ["short, after 2 s", "long, after 1 min"])
  }

  private func expectWalksAreDrawn(_ rules: some DrawableRules, _ conditions: [String]) {
    let arrows = Diagram(of: rules).arrows
    #expect(arrows.compactMap(\.condition).filter { $0.contains("after") } == conditions)
    var generator = SplitMix64(seed: 1)
    #expect(rules.faults(ofRandomWalks: 100, using: &generator) == [])
    let (paths, faults) = rules.shortestPaths()
    #expect(paths.map(\.arrow) == arrows && faults == [])
  }

  @Test("an observed machine keeps time by the clock that it is given, until it is cancelled")
  @MainActor
  func keepingTime() async {
    let clock = VirtualClock()
    let machine = ObservedMachine(Talk(), in: .talking)
    let time = Task { await machine.keepTime(on: clock) }
    await clock.sleeper(until: .seconds(600))
    clock.advance(by: .seconds(1))
    machine.send(.release)
    await clock.sleeper(until: .milliseconds(1300))
    clock.advance(by: .milliseconds(299))
    #expect(machine.state == .trailing)
    machine.send(.press)
    machine.send(.release)
    await clock.sleeper(until: .milliseconds(1599))
    clock.advance(by: .milliseconds(1))
    #expect(machine.state == .trailing, "its time begins anew")
    clock.advance(by: .milliseconds(299))
    #expect(await machine.wait(for: .silent) == .silent)
    time.cancel()
    await time.value
    machine.send(.press)
    #expect(machine.state == .talking)
  }

  @Test("keeping time ends with the machine")
  @MainActor
  func ending() async {
    let clock = VirtualClock()
    let machine = ObservedMachine(Pulse(limit: 2))
    let time = Task { await machine.keepTime(on: clock) }
    for number in 1...2 {
      await clock.sleeper(until: .milliseconds(10 * number))
      clock.advance(by: .milliseconds(10))
    }
    await time.value
    #expect(machine.isFinal)
  }
}

/// The length of the fuse decides how long it burns, and what happens at its end.
private struct Fuse: TimedRules, DrawableRules {
  enum State { case unlit, burning(meters: Int), exploded, safe }
  enum Event { case light(meters: Int), burned }
  var initial: State { .unlit }
  var finalStates: [State] { [.exploded, .safe] }
  var states: [State] { [.unlit, .burning(meters: 1), .burning(meters: 30), .exploded, .safe] }
  var samples: [Sample<Event>] {
    [
      Sample(.light(meters: 1), where: "short"), Sample(.light(meters: 30), where: "long"),
      Sample(.burned),
    ]
  }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.unlit, .light(let meters)): .burning(meters: meters)
    case (.burning(let meters), .burned): meters < 10 ? .exploded : .safe
    case (.unlit, .burned), (.burning, .light), (.exploded, _), (.safe, _): nil
    }
  }

  func condition(of state: State) -> String? {
    guard case .burning(let meters) = state else { return nil }
    return meters < 10 ? "short" : "long"
  }

  func timeout(of state: State) -> (after: Duration, event: Event)? {
    guard case .burning(let meters) = state else { return nil }
    return (.seconds(2 * meters), .burned)
  }
}

/// Counts by itself; each timeout re-enters the state, until there are many.
private struct Pulse: TimedRules {
  enum State { case counting(Int), ended }
  var limit = 50
  var initial: State { .counting(0) }
  var finalStates: [State] { [.ended] }
  func next(_ state: State, on event: Int) -> State? {
    guard case .counting(let count) = state else { return nil }
    if event == 0, count > 50 { return nil }
    return event == 0 && count + 1 == limit ? .ended : .counting(count + max(event, 1))
  }
  func reenters(_ state: State, on event: Int) -> Bool { event == 0 }
  func timeout(of state: State) -> (after: Duration, event: Int)? { (.milliseconds(10), 0) }
}
