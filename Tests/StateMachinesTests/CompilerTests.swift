import Foundation
import TestSupport
import Testing

/// The compiler's diagnostics for code that uses StateMachines.
@Suite("Compiler")
struct CompilerTests {
  private func compile(_ source: String) throws -> Ended {
    try CompiledModules().compile("import StateMachines\n" + source)
  }

  private func machine(states: String, events: String) -> String {
    """
    struct Turnstile: Rules {
      enum State { case \(states) }
      enum Event { case \(events) }
      var initial: State { .locked }
      func next(_ state: State, on event: Event) -> State? {
        switch (state, event) {
        case (.locked, .coin): .unlocked
        case (.unlocked, .push): .locked
        case (.locked, .push), (.unlocked, .coin): nil
        }
      }
    }
    """
  }

  @Test(
    "the compiler names a pair of state and event that a machine does not handle",
    arguments: [
      ("locked, unlocked", "coin, push", nil),
      ("locked, unlocked, broken", "coin, push", "(.broken, _)"),
      ("locked, unlocked", "coin, push, kick", "(_, .kick)"),
    ] as [(String, String, String?)])
  func exhaustive(_ states: String, _ events: String, _ missing: String?) throws {
    let ended = try compile(machine(states: states, events: events))
    guard let missing else {
      #expect(ended.status == 0, "\(ended.errors)")
      return
    }
    #expect(ended.status != 0)
    #expect(ended.errors.contains("error: switch must be exhaustive"))
    #expect(ended.errors.contains("add missing case: '\(missing)'"), "\(ended.errors)")
  }

  @Test(
    "the compiler names what the fridge forgets when it gets fast cooling, or a door",
    arguments: [
      ("fastCooling", nil, ["(.fastCooling, _)"]),
      ("doorOpened", "doorOpened", ["(.doorOpened, _)", "(_, .doorOpened)"]),
    ] as [(String, String?, Set<String>)])
  func forgetfulFridge(_ state: String, _ event: String?, _ missing: Set<String>) throws {
    let file = "\(checkout)/Tests/StateMachinesTests/Examples/FridgeTests.swift"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    var fridge = String(
      try #require(text.firstMatch(of: /\nstruct Fridge: (?s:.*?)\n}\n/)?.output))
    for (cases, added) in [("idle, cooling", state), ("becameWarm, becameCold", event)] {
      try #require(fridge.contains("{ case \(cases) }"))
      if let added {
        fridge = fridge.replacing("{ case \(cases) }", with: "{ case \(cases), \(added) }")
      }
    }
    let ended = try compile(fridge)
    #expect(ended.status != 0)
    #expect(ended.errors.contains("error: switch must be exhaustive"))
    let named = ended.errors.matches(of: /add missing case: '(.*)'/).map { String($0.1) }
    #expect(Set(named) == missing, "\(ended.errors)")
  }

  @Test("the state cannot be set from outside")
  func stateIsPrivate() throws {
    let source =
      machine(states: "locked, unlocked", events: "coin, push")
        + """

        func set(_ machine: inout StateMachine<Turnstile>) {
          machine.state = .unlocked
          machine.current = .unlocked
        }
        """
    let ended = try compile(source)
    #expect(ended.status != 0)
    #expect(ended.errors.contains("cannot assign to property: 'state' is a get-only property"))
    #expect(ended.errors.contains("'current' is inaccessible due to 'internal' protection level"))
  }
}
