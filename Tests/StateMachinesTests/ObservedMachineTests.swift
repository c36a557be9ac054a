import ObservedMachines
import StateMachines
import Testing

/// A counter: `counted` changes the payload of `counting`, not the state.
struct Counter: DrawableRules {
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
  var states: [State] { [.counting(0), .done] }
  var samples: [Sample<Event>] { [Sample(.counted), Sample(.ended)] }
  var finalStates: [State] { [.done] }
}

extension Counter.State {
  var count: Int? { if case .counting(let count) = self { count } else { nil } }
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
      result: { note($0 == nil ? "ignored" : "result") },
      action: { note("action \($0.from) → \($0.to)") })
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
      result: { step in
        if step == nil { results += 1 }
      }, action: { _ in Issue.record("action") })
    #expect(results == 1)
    #expect(machine.state == .locked)
    #expect(!machine.accepts(.push) && machine.accepts(.coin))
  }

  @Test("a change of the payload alone exits and enters no state")
  func payload() {
    let machine = ObservedMachine(Counter())
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
  func late() {
    let machine = ObservedMachine(Turnstile())
    var log: [String] = []
    let first = machine.before { [unowned machine] _ in
      machine.observe(
        willExit: { log.append("exit \($0)") }, didEnter: { log.append("enter \($0)") })
      machine.before { _ in log.append("before") }
      machine.after { _ in log.append("after") }
    }
    machine.send(.coin)
    #expect(log == [])
    first.end()
    machine.send(.push)
    #expect(log == ["exit unlocked", "before", "after", "enter locked"])
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
    #expect(machine.canEnter(.locked) && !machine.canEnter(.unlocked))
    #expect(Diagram(of: machine).mermaid.contains("class unlocked current"))
  }
}
