import StateMachines
import Testing

/// The life of a program that loads something, waits for input, and works on it.
struct ProgramLife: DrawableRules {
  enum State: CaseIterable { case idle, loading, waiting, processing, error, result }
  enum Event: CaseIterable { case started, loaded, inputGiven, finished, failed, dismissed }

  var initial: State { .idle }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.started, .idle): .loading
    case (.started, .loading), (.started, .waiting), (.started, .processing): nil
    case (.started, .error), (.started, .result): nil

    case (.loaded, .loading): .waiting
    case (.loaded, .idle), (.loaded, .waiting), (.loaded, .processing): nil
    case (.loaded, .error), (.loaded, .result): nil

    case (.inputGiven, .waiting): .processing
    case (.inputGiven, .idle), (.inputGiven, .loading), (.inputGiven, .processing): nil
    case (.inputGiven, .error), (.inputGiven, .result): nil

    case (.finished, .processing): .result
    case (.finished, .idle), (.finished, .loading), (.finished, .waiting): nil
    case (.finished, .error), (.finished, .result): nil

    case (.failed, .loading), (.failed, .processing): .error
    case (.failed, .idle), (.failed, .waiting), (.failed, .error), (.failed, .result): nil

    case (.dismissed, .error): .idle
    case (.dismissed, .result): .waiting
    case (.dismissed, .idle), (.dismissed, .loading): nil
    case (.dismissed, .waiting), (.dismissed, .processing): nil
    }
  }
}

/// A character in a game.
struct Role: DrawableRules {
  enum State: CaseIterable { case standing, walking, running }
  enum Event: CaseIterable { case stickPushed, stickReleased, buttonPressed, buttonReleased }

  var initial: State { .standing }

  func next(_ state: State, on event: Event) -> State? {
    switch (event, state) {
    case (.stickPushed, .standing): .walking
    case (.stickPushed, .walking), (.stickPushed, .running): nil
    case (.stickReleased, .walking), (.stickReleased, .running): .standing
    case (.stickReleased, .standing): nil
    case (.buttonPressed, .walking): .running
    case (.buttonPressed, .standing), (.buttonPressed, .running): nil
    case (.buttonReleased, .running): .walking
    case (.buttonReleased, .standing), (.buttonReleased, .walking): nil
    }
  }
}

@Suite("Examples: program and role")
struct ProgramAndRoleTests {
  @Test("the program has the transitions of its table and no others")
  func program() throws {
    #expect(
      steps(of: ProgramLife(), pairs: 36) == [
        "idle + started → loading", "loading + loaded → waiting", "loading + failed → error",
        "waiting + inputGiven → processing", "processing + finished → result",
        "processing + failed → error", "error + dismissed → idle", "result + dismissed → waiting",
      ])
    try expectSound(ProgramLife(), diagram: "program")
  }

  @Test("the role has the transitions of its table and no others")
  func role() throws {
    #expect(
      steps(of: Role(), pairs: 12) == [
        "standing + stickPushed → walking", "walking + stickReleased → standing",
        "walking + buttonPressed → running", "running + stickReleased → standing",
        "running + buttonReleased → walking",
      ])
    try expectSound(Role(), diagram: "role")
  }
}
