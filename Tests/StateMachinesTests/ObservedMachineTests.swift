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
    machine.after { note("after \($0.from) → \($0.to) on \($0.event == .coin ? "coin" : "?")") }
    machine.entering { note("entering \($0.to)") }
    machine.leaving { note("leaving \($0.from)") }
    machine.leaving { _ in note("second leaving") }
    machine.before { note("before \($0.from) → \($0.to) on \($0.event == .coin ? "coin" : "?")") }
    machine.send(
      .coin, action: { note("action \($0.from) → \($0.to)") },
      result: { outcome in if case .changed = outcome { note("result") } })
    #expect(
      log == [
        "leaving locked in locked", "second leaving in locked",
        "before locked → unlocked on coin in locked", "action locked → unlocked in locked",
        "after locked → unlocked on coin in unlocked", "entering unlocked in unlocked",
        "result in unlocked",
      ])
  }

  @Test("only the sender hears of an ignored event")
  func ignored() {
    let machine = ObservedMachine(Turnstile())
    machine.leaving { _ in Issue.record("left") }
    machine.entering { _ in Issue.record("entered") }
    machine.before { _ in Issue.record("before") }
    machine.after { _ in Issue.record("after") }
    var results = 0
    machine.send(
      .push, action: { _ in Issue.record("action") },
      result: { outcome in if case .ignored = outcome { results += 1 } })
    #expect(results == 1)
    #expect(machine.state == .locked)
    #expect(!machine.accepts(.push) && machine.accepts(.coin))
  }

  @Test("a change of the payload alone exits and enters no state")
  func payload() {
    let machine = ObservedMachine(Counter())
    var log: [String] = []
    machine.leaving { log.append("leaving \($0.from)") }
    machine.entering { log.append("entering \($0.to)") }
    machine.before { log.append("before \($0.to)") }
    machine.after { log.append("after \($0.to)") }
    machine.send(.counted)
    #expect(machine.state == .counting(1))
    machine.send(.ended)
    #expect(
      log == [
        "before counting(1)", "after counting(1)", "leaving counting(1)", "before done",
        "after done", "entering done",
      ])
  }

  @Test("an event sent by a callback is handled after the events already queued")
  func reentrant() {
    let machine = ObservedMachine(Turnstile())
    var log: [String] = []
    let first = machine.before { [unowned machine] step in
      guard step.event == .coin, log.isEmpty else { return }
      machine.send(.push, result: { _ in log.append("push sent by before") })
      machine.send(.coin, result: { _ in log.append("coin sent by before") })
      #expect(machine.state == .locked, "nothing happens yet")
    }
    machine.entering { [unowned machine] step in
      guard log.isEmpty else { return }
      machine.send(.push, result: { _ in log.append("push sent by entering") })
      #expect(step.to == machine.state)
    }
    machine.send(.coin, result: { _ in log.append("first") })
    #expect(
      log == ["first", "push sent by before", "coin sent by before", "push sent by entering"])
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
    let observers = [machine.leaving { _ in calls += 1 }, machine.entering { _ in calls += 1 }]
    machine.send(.push)
    for observer in observers { observer.end() }
    machine.send(.coin)
    #expect(calls == 2)
  }

  @Test("an observer added during a step is called from the next step on")
  func late() {
    let machine = ObservedMachine(Turnstile())
    var log: [String] = []
    let first = machine.before { [unowned machine] _ in
      machine.leaving { log.append("exit \($0.from)") }
      machine.entering { log.append("enter \($0.to)") }
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
    let kept = machine?.entering { [machine, owner] _ in _ = (machine, owner) }
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
    #expect(machine.canEnter(named: "locked") && !machine.canEnter(named: "open"))
    #expect(Diagram(of: machine).mermaid.contains("class unlocked current"))
  }
}
