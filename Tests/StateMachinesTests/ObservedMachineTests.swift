import ObservedMachines
import StateMachines
import TestSupport
import Testing

/// A counter: `counted` changes the payload of `counting`, not the state.
private struct Counter: Rules {
  enum State: Equatable { case counting(Int), done }
  enum Event: Equatable { case counted, ended }
  var initial: State { .counting(0) }
  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.counting(let count), .counted): .counting(count + 1)
    case (.counting, .ended): .done
    case (.done, .counted), (.done, .ended): nil
    }
  }
}

@Suite("Observed machine")
struct ObservedMachineTests {
  @Test("callbacks run in the documented order")
  func order() {
    let machine = ObservedMachine(Turnstile())
    var log: [String] = []
    let note = { [unowned machine] (what: String) in log.append("\(what) in \(machine.state)") }
    machine.after { note("after \($0.from) → \($0.to) on \($0.event)") }
    machine.observe(
      willExit: { note("willExit \($0)") }, didEnter: { note("didEnter \($0)") })
    machine.observe(willExit: { _ in note("second willExit") })
    machine.before { note("before \($0.from) → \($0.to) on \($0.event)") }
    machine.send(
      .coin,
      result: { outcome in
        guard case .changed = outcome else { return note("ignored") }
        note("result")
      }, action: { note("action \($0.from) → \($0.to)") })
    #expect(
      log == [
        "willExit locked in locked", "second willExit in locked",
        "before locked → unlocked on coin in locked", "action locked → unlocked in locked",
        "after locked → unlocked on coin in unlocked", "didEnter unlocked in unlocked",
        "result in unlocked",
      ])
  }

  @Test("only the sender hears of an ignored event")
  func ignored() {
    let machine = ObservedMachine(Turnstile())
    machine.observe(
      willExit: { _ in Issue.record("left") }, didEnter: { _ in Issue.record("entered") })
    machine.before { _ in Issue.record("before") }
    machine.after { _ in Issue.record("after") }
    var results = 0
    machine.send(
      .push,
      result: { outcome in
        if case .ignored = outcome { results += 1 }
      }, action: { _ in Issue.record("action") })
    #expect(results == 1)
    #expect(machine.state == .locked)
    #expect(!machine.accepts(.push) && machine.accepts(.coin))
  }

  @Test("a change of the payload alone exits and enters no state")
  func payload() async {
    let machine = ObservedMachine(Counter())
    let changes = machine.changes(keepingNewest: 10)
    var log: [String] = []
    machine.observe(
      willExit: { log.append("willExit \($0)") }, didEnter: { log.append("didEnter \($0)") })
    machine.before { log.append("before \($0.to)") }
    machine.after { log.append("after \($0.to)") }
    machine.send(.counted)
    #expect(machine.state == .counting(1))
    machine.send(.ended)
    #expect(
      log == [
        "before counting(1)", "after counting(1)", "willExit counting(1)", "before done",
        "after done", "didEnter done",
      ])
    var iterator = changes.makeAsyncIterator()
    let first = await iterator.next()
    #expect(first?.from == .counting(1) && first?.to == .done)
  }

  @Test("an event sent by a callback is handled after the events already queued")
  func reentrant() {
    let machine = ObservedMachine(Turnstile())
    var log: [String] = []
    let first = machine.before { [unowned machine] step in
      guard step.event == .coin, log.isEmpty else { return }
      machine.send(.push) { _ in
        log.append("push sent by before")
      }
      machine.send(.coin) { _ in
        log.append("coin sent by before")
      }
      #expect(machine.state == .locked, "nothing happens yet")
    }
    machine.observe(didEnter: { [unowned machine] state in
      guard log.isEmpty else { return }
      machine.send(.push) { _ in
        log.append("push sent by didEnter")
      }
      #expect(state == machine.state)
    })
    machine.send(.coin) { _ in
      log.append("first")
    }
    #expect(
      log == ["first", "push sent by before", "coin sent by before", "push sent by didEnter"])
    #expect(machine.state == .locked)
    first.end()
  }

  @Test("an ended registration gets no more calls, even within the present step")
  func ended() {
    let machine = ObservedMachine(Turnstile())
    var calls = 0
    var later: Registration?
    machine.before { _ in later?.end() }
    later = machine.before { _ in calls += 1 }
    machine.send(.coin)
    #expect(calls == 0)
    let observer = machine.observe(willExit: { _ in calls += 1 }, didEnter: { _ in calls += 1 })
    machine.send(.push)
    observer.end()
    machine.send(.coin)
    #expect(calls == 2)
  }

  @Test("an observer added during a step is called from the next step on")
  func late() async {
    let machine = ObservedMachine(Turnstile())
    var log: [String] = []
    var stream: AsyncStream<ObservedMachine<Turnstile>.Step>?
    let first = machine.before { [unowned machine] _ in
      machine.observe(
        willExit: { log.append("exit \($0)") }, didEnter: { log.append("enter \($0)") })
      machine.before { _ in log.append("before") }
      machine.after { _ in log.append("after") }
      stream = machine.changes(keepingNewest: 5)
    }
    machine.send(.coin)
    #expect(log == [])
    first.end()
    machine.send(.push)
    #expect(log == ["exit unlocked", "before", "after", "enter locked"])
    var iterator = stream?.makeAsyncIterator()
    #expect(await iterator?.next()?.event == .push)
  }

  @Test("an ended registration releases its callback, and with it the machine")
  func lifetime() {
    final class Owner {}
    var machine: ObservedMachine<Turnstile>? = ObservedMachine(Turnstile())
    var owner: Owner? = Owner()
    let hasOwner = { [weak owner] in owner != nil }
    let hasMachine = { [weak machine] in machine != nil }
    // A reference cycle by mistake, which lasts until the registration ends.
    let kept = machine?.observe(didEnter: { [machine, owner] _ in _ = (machine, owner) })
    owner = nil
    machine = nil
    #expect(hasMachine() && hasOwner())
    kept?.end()
    #expect(!hasMachine() && !hasOwner())
  }

  @Test("the next states and the diagram show the present state")
  func nextStates() {
    let machine = ObservedMachine(Turnstile())
    #expect(machine.nextStates == ["unlocked"])
    machine.send(.coin)
    #expect(machine.nextStates == ["locked"])
    let current = machine.rules.name(of: machine.state)
    #expect(Diagram(of: machine.rules, current: current).mermaid.contains("class unlocked current"))
  }

  @Test("every change of a random run exits one state and enters the next")
  func alternation() {
    let machine = ObservedMachine(BetterFridge())
    var plain = StateMachine(BetterFridge())
    var generator = SplitMix64(seed: 3)
    var expected: [String] = []
    var log: [String] = []
    machine.observe(willExit: { log.append("exit \($0)") }, didEnter: { log.append("enter \($0)") })
    for _ in 0..<1000 {
      guard let event = BetterFridge.Event.allCases.randomElement(using: &generator) else { return }
      if let step = plain.take(event) { expected += ["exit \(step.from)", "enter \(step.to)"] }
      machine.send(event)
      #expect(machine.state == plain.state)
    }
    #expect(log == expected)
    #expect(log.count > 500)
  }
}

@Suite("Observed machine: streams")
struct ObservedMachineStreamTests {
  @Test("every stream yields all changes, and ends with the machine")
  func several() async {
    var machine: ObservedMachine<Turnstile>? = ObservedMachine(Turnstile())
    let streams = (0..<3).compactMap { _ in machine?.changes(keepingNewest: 100) }
    for _ in 0..<5 {
      machine?.send(.coin)
      machine?.send(.coin)
      machine?.send(.push)
    }
    machine = nil
    for stream in streams {
      var events: [Turnstile.Event] = []
      for await step in stream { events.append(step.event) }
      #expect(events == Array(repeating: [.coin, .push], count: 5).flatMap { $0 })
    }
  }

  @Test("a slow reader loses the oldest changes", arguments: [1, 3])
  func slow(_ count: Int) async {
    var machine: ObservedMachine<Fridge>? = ObservedMachine(Fridge())
    guard let stream = machine?.changes(keepingNewest: count) else { return }
    for _ in 0..<4 {
      machine?.send(.becameWarm)
      machine?.send(.becameCold)
    }
    machine = nil
    var events: [Fridge.Event] = []
    for await step in stream { events.append(step.event) }
    #expect(events == Array([.becameWarm, .becameCold, .becameWarm, .becameCold].suffix(count)))
  }

  @Test("a stream can be read in another task while the machine runs")
  func otherTask() async {
    let machine = ObservedMachine(Turnstile())
    let stream = machine.changes(keepingNewest: 1000)
    let reader = Task { () -> Int in
      var count = 0
      for await _ in stream {
        count += 1
        if count == 200 { break }
      }
      return count
    }
    for _ in 0..<100 {
      machine.send(.coin)
      machine.send(.push)
      await Task.yield()
    }
    #expect(await reader.value == 200)
    // The reader has ended; the machine goes on.
    machine.send(.coin)
    #expect(machine.state == .unlocked)
  }
}
