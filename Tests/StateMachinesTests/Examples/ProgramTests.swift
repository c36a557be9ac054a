import StateMachines
import Testing

/// A program that works on what it is given: a table of rows. Every other pair is ignored.
enum Program {
  enum State: CaseIterable { case idle, loading, waiting, processing, error, result }
  enum Event: CaseIterable {
    case launched, loaded, input, failed, cancel, success, close, restart
  }

  static func rules() throws -> TransitionTable<State, Event> {
    try TransitionTable(
      states: State.allCases, initial: .idle,
      rows: [
        (.idle, .launched, .loading),
        (.loading, .loaded, .waiting),
        (.waiting, .input, .processing),
        (.processing, .failed, .error),
        (.processing, .cancel, .waiting),
        (.processing, .success, .result),
        (.result, .close, .waiting),
        (.error, .restart, .idle),
      ])
  }
}

@Suite("Example: program")
struct ProgramTests {
  @Test("the program follows its table, and ignores every other pair")
  func rules() throws {
    let program = try Program.rules()
    #expect(program.events == Program.Event.allCases)
    #expect(
      steps(of: program, pairs: 48) == [
        "idle + launched → loading", "loading + loaded → waiting", "waiting + input → processing",
        "processing + failed → error", "processing + cancel → waiting",
        "processing + success → result", "error + restart → idle", "result + close → waiting",
      ])
    try expectSound(program, diagram: "program")
  }

  @Test("the diagram proves that cancel means something in processing only")
  func cancel() throws {
    let diagram = try Diagram(of: Program.rules())
    #expect(
      diagram.arrows.filter { $0.event == "cancel" }
        == [.init(from: "processing", to: "waiting", event: "cancel")])
    // So a button for it is wanted in exactly that state.
    for state in Program.State.allCases {
      let machine = try StateMachine(Program.rules(), in: state)
      #expect(machine.accepts(.cancel) == (state == .processing))
    }
  }
}
