import ObservedMachines
import StateMachines
import Testing

@Suite("Observed machine: hooks, start and outcomes")
struct ObservedMachineHookTests {
  @Test("entering and leaving are told for one state, judged by its name")
  func oneState() {
    let machine = ObservedMachine(Counter(), in: .counting(7))
    var log: [String] = []
    machine.entering(.done) { log.append("entering \($0.to), from \($0.from)") }
    machine.entering(.counting(0)) { log.append("entering \($0.to)") }
    machine.leaving(.counting(0)) { log.append("leaving \($0.from) to \($0.to)") }
    machine.leaving(.done) { _ in Issue.record("done is never left") }
    machine.send(.counted)
    #expect(log == [])
    machine.send(.ended)
    #expect(log == ["leaving counting(8) to done", "entering done, from counting(8)"])
  }

  @Test("entering and leaving are told for the states with one payload, with the payload")
  func onePayload() {
    let machine = ObservedMachine(Counter(), in: .counting(7))
    var log: [String] = []
    machine.entering(\.count) { count, step in
      log.append("entering \(count) \(step.event == nil ? "at the start" : "by a step")")
    }
    machine.leaving(\.count) { log.append("leaving \($0) to \($1.to)") }
    machine.start()
    machine.send(.counted)
    machine.send(.ended)
    #expect(log == ["entering 7 at the start", "leaving 8 to done"])
  }

  @Test("before and after are told for one row, judged by the names of its state and event")
  func oneRow() throws {
    let machine = ObservedMachine(Counter())
    var log: [String] = []
    try machine.before(.counting(0), on: .counted) { log.append("before \($0.to)") }
    try machine.after(.counting(0), on: .counted) { [unowned machine] step in
      log.append("after \(step.to) in \(machine.state)")
    }
    #expect(throws: NoSuchStep.self) { try machine.before(.done, on: .counted) { _ in } }
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
    machine.entering { log.append("entering \($0.to)") }
    machine.entering(.unlocked) { step in
      log.append("\(step.from) → \(step.to), \(step.event == nil ? "at the start" : "by a step")")
    }
    machine.start()
    machine.start()
    #expect(log == ["entering unlocked", "unlocked → unlocked, at the start"])
    machine.send(.push)
    machine.send(.coin)
    machine.start()
    #expect(
      log.dropFirst(2) == [
        "entering locked", "entering unlocked", "locked → unlocked, by a step",
      ])

    let begun = ObservedMachine(Turnstile())
    begun.entering { _ in Issue.record("entered") }
    begun.send(.push)
    begun.start()

    let sending = ObservedMachine(Turnstile())
    var entered: [Turnstile.State] = []
    sending.entering(.locked) { [unowned sending] _ in sending.send(.coin) }
    sending.entering { entered.append($0.to) }
    sending.start()
    #expect(entered == [.locked, .unlocked], "what is sent on entering is handled after that")
  }

  @Test("send returns the step, or that the event was ignored or queued")
  func outcomes() throws {
    let machine = ObservedMachine(Turnstile())
    var inside: [String] = []
    try machine.after(.locked, on: .coin) { [unowned machine] _ in
      let outcome = machine.send(.coin, result: { inside.append("\($0)") })
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

  @Test(
    "after its end, send is refused and says so, whatever the rules would do", arguments: [1, 2])
  func ended(_ hooks: Int) async {
    // Rules that do not keep their promise: an event leaves the final state.
    let machine = ObservedMachine(initial: 0, finalStates: [2, 7]) { (number, step: Int) in
      number + step
    }
    var told: [String] = []
    if hooks > 1 { machine.after { told.append("after \($0.to)") } }
    machine.send(1)
    machine.send(1, result: { told.append("\($0)") })
    #expect(machine.isFinal && machine.state == 2)
    let outcome = machine.send(1, action: { _ in Issue.record("a step") })
    #expect("\(outcome)" == "ended")
    machine.send(1, result: { told.append("\($0)") })
    #expect(machine.state == 2 && told.last == "ended" && told.count == 2 * hooks)

    let restored = ObservedMachine(machine.rules, in: 7)
    #expect("\(restored.send(1))" == "ended")
    for await number in restored.states { #expect(number == 7) }
  }

  @Test("steps and outcomes are compared where states and events are")
  func equality() {
    let machine = ObservedMachine(Counter())
    let step = ObservedMachine<Counter>.Step(from: .counting(0), to: .counting(1), event: .counted)
    #expect(machine.send(.counted) == .changed(step))
    #expect(machine.send(.ended) != .changed(step))
    #expect(machine.send(.ended) == .ended)
  }

  @Test("what is sent on entering the final state is refused")
  func sentAtTheEnd() {
    let machine = ObservedMachine(Counter())
    var outcomes: [String] = []
    machine.entering(.done) { [unowned machine] _ in
      outcomes.append("\(machine.send(.counted, result: { outcomes.append("then \($0)") }))")
    }
    machine.send(.ended)
    #expect(outcomes == ["queued", "then ended"])
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
    #expect(plain.send(2) == .init(from: 1, to: 3))
    #expect(plain.send(1) == nil)
    #expect(plain.isFinal)
  }
}
