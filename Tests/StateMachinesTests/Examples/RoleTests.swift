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
func roleOfRows(say: @escaping (String) -> Void) -> ObservedMachine<Role> {
  let role = ObservedMachine(Role(initial: .walk))
  role.before(.walk, on: .clickRunButton) { _ in say("about to run") }
  role.after(.walk, on: .clickRunButton) { _ in say("running") }
  role.before(.run, on: .clickWalkButton) { _ in say("about to walk") }
  role.after(.run, on: .clickWalkButton) { _ in say("walking") }
  return role
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

  @Test("a role of rows begins in walk, and acts before and after each row")
  func rows() {
    var said: [String] = []
    let role = roleOfRows { said.append($0) }
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
