import KeyboardModes
import ObservedMachines
import StateMachineTesting
import StateMachines
import Testing

@Suite("Re-entering")
struct ReenteringTests {
  @Test("a step that re-enters leaves and enters its state; other changes of a payload do not")
  func hooks() {
    let machine = ObservedMachine(Download())
    var log: [String] = []
    machine.leaving(.downloading(attempt: 0)) { log.append("leaving \($0.from.attempt ?? 0)") }
    machine.entering(\.attempt) { attempt, _ in log.append("entering \(attempt)") }
    machine.entering { log.append("state \($0.to.attempt ?? 0)") }
    for event in [.started, .progressed, .failed] as [Download.Event] { machine.send(event) }
    #expect(
      log == [
        "entering 1", "state 1", "leaving 1", "entering 2", "state 2",
      ])
  }

  @Test("changes tell of it, and the diagram shows it")
  func changes() async throws {
    var machine: ObservedMachine<Download>? = ObservedMachine(Download())
    let changes = try #require(machine?.changes())
    for event in [.started, .progressed, .failed] as [Download.Event] { machine?.send(event) }
    machine = nil
    var told: [String] = []
    for await change in changes { told.append("\(change.kind) \(change.state.attempt ?? 0)") }
    #expect(told == ["leaving 0", "entering 1", "leaving 1", "entering 2"])
    let arrows = Diagram(of: Download()).arrows
    #expect(arrows.filter(\.reenters).map(\.label) == ["failed [tries left] (re-enters)"])
    #expect(arrows.contains { $0.from == $0.to && $0.event == "progressed" && !$0.reenters })
  }

  @Test("a table and a closure say it for a row")
  func tablesAndClosures() throws {
    let table = try TransitionTable(
      states: ["a", "b"], initial: "a",
      rows: [
        .init("a", "again", "a", reenters: true), .init("a", "same", "a"), .init("a", "go", "b"),
        .init("b", "go", "a"),
      ])
    #expect(table.soundnessFaults == [] && table.shortestPaths().faults == [])
    let closure = TransitionFunction(
      initial: "a", reenters: { (_, event: String) in event == "again" }
    ) { state, _ in state }
    var entered: [String?] = []
    let machines = (ObservedMachine(table), ObservedMachine(closure))
    machines.0.entering("a") { entered.append($0.event) }
    machines.1.entering("a") { entered.append($0.event) }
    for event in ["again", "same"] {
      machines.0.send(event)
      machines.1.send(event)
    }
    #expect(entered == ["again", "again"])
  }

  @Test("the check finds a step that enters nothing, where callbacks wait for it")
  func unnoticed() throws {
    let hasty = ObservedMachine(Hasty())
    hasty.entering(\.attempt) { _, _ in }
    #expect(
      hasty.hookFaults.map(\.description) == [
        "failed changes only the payload of 'downloading', so it is not entered again; if it should "
          + "be, say so in 'reenters', otherwise use 'after'"
      ])
    try hasty.after(.downloading(attempt: 0), on: .failed) { _ in }
    #expect(hasty.hookFaults == [])

    let machine = ObservedMachine(Hasty())
    machine.entering { _ in }
    #expect(machine.hookFaults == [], "what is for every state may be a log")
  }

  @Test("the check finds callbacks that nothing calls, until their registration ends")
  func neverCalled() {
    let machine = ObservedMachine(Hasty())
    let registrations = [
      machine.leaving(.done) { _ in },
      machine.leaving({ $0.attempt == 9 ? $0 : nil }) { _, _ in },
    ]
    machine.entering(.idle) { _ in }  // by start()
    #expect(
      machine.hookFaults.map(\.description) == [
        "nothing calls leaving(done)", "nothing calls leaving(a payload)",
      ])
    for registration in registrations { registration.end() }
    #expect(machine.hookFaults == [])
  }
}

/// A download whose retries forget that they re-enter, and that has no progress.
private struct Hasty: DrawableRules {
  let rules = Download()
  var initial: Download.State { .idle }
  func next(_ state: Download.State, on event: Download.Event) -> Download.State? {
    if case .progressed = event { nil } else { rules.next(state, on: event) }
  }
  var states: [Download.State] { rules.states }
  var samples: [Sample<Download.Event>] { rules.samples }
  var finalStates: [Download.State] { rules.finalStates }
  func condition(of state: Download.State) -> String? { rules.condition(of: state) }
}

@Suite("Rows that act")
struct RowWithCallbacksTests {
  private typealias TableError = TransitionTable<String, String>.TableError

  @Test("the rows of a table carry their own actions")
  func rows() throws {
    var log: [String] = []
    let gate = try ObservedMachine(
      states: ["locked", "unlocked"], initial: "locked", acceptingStates: ["locked"],
      rows: [
        .init("locked", "coin", "unlocked", before: { log.append("before \($0.to)") }),
        .init("unlocked", "push", "locked", after: { log.append("after \($0.from)") }),
      ])
    for event in ["coin", "coin", "push"] { gate.send(event) }
    #expect(log == ["before unlocked", "after unlocked"])
    #expect(gate.isAccepting)
    #expect(throws: TableError.twoRows(.init("a", "go", "a"), .init("a", "go", "a"))) {
      try ObservedMachine(
        states: ["a"], initial: "a", rows: [.init("a", "go", "a"), .init("a", "go", "a")])
    }
  }

  @Test("a callback for a step that the rules do not have is an error at once, which names it")
  func noSuchStep() throws {
    let gate = try ObservedMachine(
      states: ["locked", "unlocked"], initial: "locked",
      rows: [.init("locked", "coin", "unlocked"), .init("unlocked", "push", "locked")])
    #expect(message { try gate.before("locked", on: "push") { _ in } } == "from 'locked' on 'push'")
    #expect(message { try gate.after("locked", on: "kick") { _ in } } == "from 'locked' on 'kick'")
    #expect(message { try gate.before(on: "kick") { _ in } } == "on 'kick'")
    #expect(
      message { try gate.after("locked", to: "locked") { _ in } }
        == "from 'locked' to 'locked'")
    let keyboard = ObservedMachine(CompiledTable.shipped)
    let recording = try #require(keyboard.rules.state(named: "prepareToRecord"))
    #expect(
      message { try keyboard.after(recording, on: .tapTextField) { _ in } }
        == "from 'prepareToRecord' on 'tapTextField'")
    let turnstile = ObservedMachine(Turnstile())
    #expect(
      message { try turnstile.after(.locked, on: .push) { _ in } } == "from 'locked' on 'push'")
    let closure = ObservedMachine(initial: 0) { (_, _: Int) in nil }
    try closure.after(0, on: 1) { _ in }  // it cannot be drawn

    var calls = 0
    try gate.after("locked", on: "coin") { _ in calls += 1 }
    gate.send("coin")
    #expect(calls == 1)
  }

  private func message(_ add: () throws -> Registration) -> String? {
    do { _ = try add() } catch {
      return "\(error)".replacing("the rules have no step ", with: "")
    }
    return nil
  }

  @Test("callbacks for an event, or from one state to another, are called for just these steps")
  func filters() throws {
    let machine = ObservedMachine(BetterFridge())
    var log: [String] = []
    try machine.before(on: .buttonPressed) { log.append("button in \($0.from)") }
    try machine.after(on: .doorOpened) { log.append("door in \($0.from)") }
    try machine.before(.cooling, to: .idle) { _ in log.append("before idle") }
    try machine.after(.fastCooling, to: .cooling) { _ in log.append("after fast") }
    let events: [BetterFridge.Event] = [
      .becameCold, .becameWarm, .buttonPressed, .buttonPressed, .doorOpened, .doorOpened,
    ]
    for event in events { machine.send(event) }
    #expect(
      log == [
        "before idle", "button in cooling", "button in fastCooling", "after fast",
        "door in cooling",
      ])
  }
}
