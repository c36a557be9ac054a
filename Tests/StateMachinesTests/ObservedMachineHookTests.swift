import ObservedMachines
import StateMachines
import Testing

@Suite("Observed machine: hooks, start and outcomes")
struct ObservedMachineHookTests {
  @Test("entering and leaving are told for one state, judged by its name")
  func oneState() {
    let machine = ObservedMachine(Counter(), in: .counting(7))
    var log: [String] = []
    machine.entering(.done) { state, step in
      log.append("entering \(state), from \(step?.from as Any), on \(step?.event as Any)")
    }
    machine.entering(.counting(0)) { state, _ in log.append("entering \(state)") }
    machine.leaving(.counting(0)) { log.append("leaving \($0.from) to \($0.to) on \($0.event)") }
    machine.leaving(.done) { _ in Issue.record("done is never left") }
    machine.send(.counted)
    #expect(log == [])
    machine.send(.ended)
    #expect(
      log.map { $0.replacing("StateMachinesTests.Counter.", with: "") } == [
        "leaving counting(8) to done on ended",
        "entering done, from Optional(State.counting(8)), on Optional(Event.ended)",
      ])
  }

  @Test("entering and leaving are told for the states with one payload, with the payload")
  func onePayload() {
    let machine = ObservedMachine(Counter(), in: .counting(7))
    var log: [String] = []
    machine.entering(\.count) { count, step in
      log.append("entering \(count) \(step == nil ? "at the start" : "by a step")")
    }
    machine.leaving(\.count) { log.append("leaving \($0) on \($1.event)") }
    machine.start()
    machine.send(.counted)
    machine.send(.ended)
    #expect(log == ["entering 7 at the start", "leaving 8 on ended"])
  }

  @Test("before and after are told for one row, judged by the names of its state and event")
  func oneRow() {
    let machine = ObservedMachine(Counter())
    var log: [String] = []
    machine.before(.counting(0), on: .counted) { log.append("before \($0.to)") }
    machine.after(.counting(0), on: .counted) { [unowned machine] step in
      log.append("after \(step.to) in \(machine.state)")
    }
    machine.before(.done, on: .counted) { _ in Issue.record("done ignores it") }
    machine.send(.counted)
    machine.send(.counted)
    #expect(
      log == [
        "before counting(1)", "after counting(1) in counting(1)", "before counting(2)",
        "after counting(2) in counting(2)",
      ])
  }

  @Test("start tells of the first state, once, and before the first event only")
  func start() {
    let machine = ObservedMachine(Turnstile(), in: .unlocked)
    var log: [String] = []
    machine.observe(didEnter: { log.append("didEnter \($0)") })
    machine.entering(.unlocked) { state, step in
      log.append("entering \(state), \(step == nil ? "at the start" : "by a step")")
    }
    machine.start()
    machine.start()
    #expect(log == ["didEnter unlocked", "entering unlocked, at the start"])
    machine.send(.push)
    machine.send(.coin)
    machine.start()
    #expect(
      log.dropFirst(2) == [
        "didEnter locked", "didEnter unlocked", "entering unlocked, by a step",
      ])

    let begun = ObservedMachine(Turnstile())
    begun.observe(didEnter: { _ in Issue.record("entered") })
    begun.send(.push)
    begun.start()

    let sending = ObservedMachine(Turnstile())
    var entered: [Turnstile.State] = []
    sending.entering(.locked) { [unowned sending] _, _ in sending.send(.coin) }
    sending.observe(didEnter: { entered.append($0) })
    sending.start()
    #expect(entered == [.locked, .unlocked], "what is sent on entering is handled after that")
  }

  @Test("send returns the step, or that the event was ignored or queued")
  func outcomes() {
    let machine = ObservedMachine(Turnstile())
    var inside: [String] = []
    machine.after(.locked, on: .coin) { [unowned machine] _ in
      let outcome = machine.send(.coin) { inside.append($0 == nil ? "ignored" : "a step") }
      if case .queued = outcome { inside.append("queued") }
      #expect(inside == ["queued"])
    }
    guard case .changed(let step) = machine.send(.coin) else {
      Issue.record("no step")
      return
    }
    #expect(step.from == .locked && step.to == .unlocked && step.event == .coin)
    #expect(inside == ["queued", "ignored"])
    guard case .ignored = machine.send(.coin) else {
      Issue.record("not ignored")
      return
    }
  }

  @Test("a machine from a closure is one line, and is drawn where its cases are known")
  func closure() {
    let machine = ObservedMachine(initial: Turnstile.State.locked) {
      (_, event: Turnstile.Event) in event == .coin ? .unlocked : .locked
    }
    machine.send(.coin)
    #expect(machine.state == .unlocked)
    #expect(
      Diagram(of: machine).arrows.map { "\($0.from) –\($0.label)→ \($0.to)" } == [
        "locked –coin→ unlocked", "locked –push→ locked", "unlocked –coin→ unlocked",
        "unlocked –push→ locked",
      ])
    var plain = StateMachine(initial: 1, finalStates: [3]) { (number, step: Int) in
      number + step > 3 ? nil : number + step
    }
    #expect(plain.take(2) == .init(from: 1, to: 3))
    #expect(plain.take(1) == nil)
    #expect(plain.isFinal)
  }
}
