import Dispatch
import ObservedMachines
import StateMachines
import Testing

/// A character in a game.
struct Role: DrawableRules {
  enum State: CaseIterable { case walk, run }
  enum Event: CaseIterable { case clickWalkButton, clickRunButton }

  var initial = State.run

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.run, .clickWalkButton): .walk
    case (.walk, .clickRunButton): .run
    case (.walk, .clickWalkButton), (.run, .clickRunButton): nil
    }
  }
}

/// What the character does in one state: an object for each state.
final class Gait {
  private let name: String
  private let say: (String) -> Void

  init(_ name: String, say: @escaping (String) -> Void) { (self.name, self.say) = (name, say) }

  func enter() { say("enter \(name)") }
  func exit() { say("exit \(name)") }
}

/// A role whose states are objects, which are entered and exited.
func roleOfObjects(say: @escaping (String) -> Void) -> ObservedMachine<Role> {
  let role = ObservedMachine(Role())
  for (state, gait) in [(Role.State.walk, Gait("walk", say: say)), (.run, Gait("run", say: say))] {
    role.entering(state) { _ in gait.enter() }
    role.leaving(state) { _ in gait.exit() }
  }
  return role
}

/// A role whose rows act, before and after they change the state.
func roleOfRows(say: @escaping (String) -> Void) throws -> ObservedMachine<Role> {
  let role = ObservedMachine(Role(initial: .walk))
  try role.before(.walk, on: .clickRunButton) { _ in say("about to run") }
  try role.after(.walk, on: .clickRunButton) { _ in say("running") }
  try role.before(.run, on: .clickWalkButton) { _ in say("about to walk") }
  try role.after(.run, on: .clickWalkButton) { _ in say("walking") }
  return role
}

/// A role for several threads: rows are added while it runs, and act on a queue.
actor SharedRole {
  typealias Rows = TransitionTable<Role.State, Role.Event>
  private var role: StateMachine<Rows>
  private var actions: [Rows.Row: @Sendable () -> Void] = [:]
  private let queue: DispatchQueue

  init(on queue: DispatchQueue) throws {
    self.queue = queue
    role = StateMachine(
      try Rows(
        states: [.walk, .run], initial: .walk, rows: [Rows.Row](), allowsUnreachable: true))
  }

  /// Throws if there is a row for this state and event.
  func add(_ row: Rows.Row, action: @escaping @Sendable () -> Void) throws {
    let (rules, rows) = (role.rules, role.rules.rows + [row])
    role = StateMachine(
      try Rows(states: rules.states, initial: .walk, rows: rows, allowsUnreachable: true),
      in: role.state)
    actions[row] = action
  }

  func send(_ event: Role.Event) {
    guard let step = role.send(event) else { return }
    if let action = actions[.init(step.from, event, step.to)] { queue.async(execute: action) }
  }
}

@Suite("Example: role")
struct RoleTests {
  @Test("the role follows its table, wherever it begins", arguments: Role.State.allCases)
  func rules(_ initial: Role.State) throws {
    let role = Role(initial: initial)
    #expect(
      table(of: role) == """
        walk + clickWalkButton → /
        walk + clickRunButton → run
        run + clickWalkButton → walk
        run + clickRunButton → /
        """)
    try expectSound(role, diagram: "role-from-\(initial)")
  }

  @Test("a role of objects begins in run without entering it, then exits one and enters the other")
  func objects() {
    var said: [String] = []
    let role = roleOfObjects { said.append($0) }
    #expect(role.state == .run && said == [])
    role.send(.clickRunButton)
    #expect(role.state == .run && said == [])
    role.send(.clickWalkButton)
    #expect(role.state == .walk && said == ["exit run", "enter walk"])
    role.send(.clickWalkButton)
    role.send(.clickRunButton)
    #expect(role.state == .run)
    #expect(said == ["exit run", "enter walk", "exit walk", "enter run"])
  }

  @Test("rows are added to a role that runs, and several tasks send to it")
  func shared() async throws {
    let queue = DispatchQueue(label: "callbacks")
    let (said, saying) = AsyncStream.makeStream(of: String.self)
    let role = try SharedRole(on: queue)
    try await role.add(.init(.walk, .clickRunButton, .run)) { saying.yield("running") }
    await role.send(.clickRunButton)
    await role.send(.clickWalkButton)  // it has no row yet
    try await role.add(.init(.run, .clickWalkButton, .walk)) { saying.yield("walking") }
    await #expect(throws: SharedRole.Rows.TableError.self) {
      try await role.add(.init(.run, .clickWalkButton, .run)) {}
    }
    await withTaskGroup(of: Void.self) { tasks in
      for event in [Role.Event.clickWalkButton, .clickRunButton, .clickWalkButton, .clickRunButton]
      {
        tasks.addTask { for _ in 0..<200 { await role.send(event) } }
      }
    }
    queue.async { saying.finish() }
    var expected = "running"
    for await what in said {
      #expect(what == expected, "no step is lost, and none is made twice")
      expected = what == "running" ? "walking" : "running"
    }
  }

  @Test("a role of rows begins in walk, and acts before and after each row")
  func rows() throws {
    var said: [String] = []
    let role = try roleOfRows { said.append($0) }
    #expect(role.state == .walk && said == [])
    role.send(.clickWalkButton)
    #expect(role.state == .walk && said == [])
    role.send(.clickRunButton)
    #expect(role.state == .run && said == ["about to run", "running"])
    role.send(.clickRunButton)
    role.send(.clickWalkButton)
    #expect(role.state == .walk)
    #expect(said == ["about to run", "running", "about to walk", "walking"])
  }
}
