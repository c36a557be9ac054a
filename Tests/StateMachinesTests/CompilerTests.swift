import Foundation
import TestSupport
import Testing

/// The compiler's diagnostics for code that uses StateMachines.
@Suite("Compiler")
struct CompilerTests {
  /// The example, with another state and another event.
  private func fridge(state: String = "", event: String = "") throws -> String {
    let file = "\(checkout)/Tests/StateMachinesTests/Examples/FridgeTests.swift"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    var fridge = String(
      try #require(text.firstMatch(of: /\nstruct Fridge: (?s:.*?)\n}\n/)?.output))
    for (cases, added) in [("idle, cooling", state), ("becameWarm, becameCold", event)] {
      try #require(fridge.contains("{ case \(cases) }"))
      fridge = fridge.replacing("{ case \(cases) }", with: "{ case \(cases)\(added) }")
    }
    return "import StateMachines\n" + fridge
  }

  @Test(
    "the compiler names what the fridge forgets when it gets fast cooling, or a door",
    arguments: [
      ("", "", []), (", fastCooling", "", ["(.fastCooling, _)"]),
      (", doorOpened", ", doorOpened", ["(.doorOpened, _)", "(_, .doorOpened)"]),
    ] as [(String, String, Set<String>)])
  func forgetfulFridge(_ state: String, _ event: String, _ missing: Set<String>) throws {
    let ended = try CompiledModules().compile(fridge(state: state, event: event))
    #expect((ended.status == 0) == missing.isEmpty, "\(ended.errors)")
    #expect(ended.errors.contains("error: switch must be exhaustive") == !missing.isEmpty)
    let named = ended.errors.matches(of: /add missing case: '(.*)'/).map { String($0.1) }
    #expect(Set(named) == missing, "\(ended.errors)")
  }

  @Test("the state cannot be set from outside")
  func stateIsPrivate() throws {
    let ended = try CompiledModules().compile(
      fridge() + """
        func set(_ machine: inout StateMachine<Fridge>) {
          machine.state = .idle
          machine.current = .idle
        }
        """)
    #expect(ended.status != 0)
    #expect(ended.errors.contains("cannot assign to property: 'state' is a get-only property"))
    #expect(ended.errors.contains("'current' is inaccessible due to 'internal' protection level"))
  }
}
