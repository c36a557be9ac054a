import StateMachineTesting
import StateMachines
import TestSupport
import Testing

/// Rules with every fault that a diagram shows. `b` is not listed, `go` lacks its conditions, nothing
/// leads to `lost`, nothing leaves `stuck`, the final state `over` is left, and `gone` is not listed.
private struct Faulty: DrawableRules {
  enum State { case a, b, stuck, lost, over, gone }
  enum Event { case go(Int) }
  var initial: State { .a }
  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.a, .go(1)): .b
    case (.a, .go(2)): .stuck
    case (.a, .go), (.lost, .go): .over
    case (.b, .go), (.over, .go): .a
    case (.stuck, .go), (.gone, .go): nil
    }
  }
  var states: [State] { [.a, .stuck, .lost, .over] }
  var samples: [Sample<Event>] { [Sample(.go(1)), Sample(.go(2)), Sample(.go(3))] }
  var finalStates: [State] { [.over, .gone] }
}

/// A stack, whose depth decides what `popped` does. `grows` says whether it can have two elements.
private struct Stack: DrawableRules {
  enum State: Equatable { case empty, filled([Int]) }
  enum Event { case pushed(Int), popped }
  var grows = true
  var hasConditions = true
  var initial: State { .empty }
  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.empty, .pushed(let number)): .filled([number])
    case (.empty, .popped): nil
    case (.filled(let numbers), .pushed(let number)): grows ? .filled(numbers + [number]) : nil
    case (.filled(let numbers), .popped): numbers.count == 1 ? .empty : .filled(numbers.dropLast())
    }
  }
  var states: [State] { [.empty, .filled([1]), .filled([1, 2])] }
  var samples: [Sample<Event>] { [Sample(.pushed(7)), Sample(.popped)] }
  func condition(of state: State) -> String? {
    guard hasConditions, case .filled(let numbers) = state else { return nil }
    return numbers.count == 1 ? "one" : "several"
  }
}

/// A counter that never repeats a state, with an arrow after `needed` steps.
private struct Endless: DrawableRules {
  enum State: Equatable { case counting(Int), full }
  enum Event: CaseIterable { case counted }
  let needed: Int
  var initial: State { .counting(0) }
  func next(_ state: State, on event: Event) -> State? {
    guard case .counting(let count) = state else { return nil }
    return count == needed ? .full : .counting(count + 1)
  }
  var states: [State] { [.counting(0), .counting(needed), .full] }
  func condition(of state: State) -> String? {
    guard case .counting(let count) = state else { return nil }
    return count == needed ? "full" : "room"
  }
  var finalStates: [State] { [.full] }
}

@Suite("State machine testing")
struct StateMachineTestingTests {
  @Test("each fault of rules is found, and says what mends it")
  func faulty() {
    let arrows = ["b", "stuck", "over"].map {
      RulesFault.ambiguousArrow(.init(from: "a", to: $0, event: "go"))
    }
    #expect(
      Faulty().soundnessFaults == [
        .unlistedState("gone"), .unlistedState("b"), .unreachableState("lost"), .deadState("stuck"),
        .leftFinalState("over"),
      ] + arrows)
    #expect(
      Faulty().soundnessFaults.dropFirst().dropLast(2).map(\.description) == [
        "the state 'b' is missing in 'states'", "no sequence of events leads to the state 'lost'",
        "no event leaves the state 'stuck'; if that is meant, list it in 'finalStates'",
        "an event leaves the state 'over', which is final",
        "'a' –go→ 'b' is not the only arrow with this origin and label; give their samples or "
          + "states conditions that differ",
      ])
  }

  @Test("sound rules have no fault, by any of the checks")
  func sound() {
    for count in 0..<20 {
      var generator = SplitMix64(seed: UInt64(count))
      #expect(Turnstile().faults(ofRandomWalks: count, events: count, using: &generator) == [])
    }
    #expect(Turnstile().soundnessFaults == [])
    #expect(Turnstile().shortestPaths().faults == [])
    #expect(Stack().soundnessFaults == [])
  }

  @Test("a condition on the state is drawn where the payload decides, and its lack is found")
  func stateConditions() {
    let labels = Diagram(of: Stack()).arrows.map { "\($0.from) –\($0.label)→ \($0.to)" }
    #expect(
      labels == [
        "empty –pushed→ filled", "filled –pushed→ filled", "filled –popped [one]→ empty",
        "filled –popped [several]→ filled",
      ])
    #expect(
      Stack(hasConditions: false).soundnessFaults == [
        .ambiguousArrow(.init(from: "filled", to: "empty", event: "popped")),
        .ambiguousArrow(.init(from: "filled", to: "filled", event: "popped")),
      ])
    var generator = SplitMix64(seed: 1)
    #expect(Stack().faults(ofRandomWalks: 50, using: &generator) == [])
  }

  @Test("a random walk finds a step that the diagram does not have, and how it came about")
  func walk() {
    struct Forgetful: DrawableRules {
      typealias State = Stack.State
      typealias Event = Stack.Event
      var initial: State { .empty }
      func next(_ state: State, on event: Event) -> State? { Stack().next(state, on: event) }
      // Without a stack of two, popping always leads to empty.
      var states: [State] { [.empty, .filled([1])] }
      var samples: [Sample<Event>] { Stack().samples }
    }
    var generator = SplitMix64(seed: 2)
    let faults = Forgetful().faults(ofRandomWalks: 200, events: 40, using: &generator)
    // Of all walks that end with this step, the shortest; ignored events are not in it.
    #expect(
      faults == [
        .undrawnStep(from: "filled", to: "filled", afterEvents: ["pushed", "pushed", "popped"])
      ])
    #expect(Forgetful().soundnessFaults == [], "the lists alone look sound")
  }

  @Test("the shortest path to each arrow takes it with its last step")
  func paths() throws {
    let (paths, faults) = Stack().shortestPaths()
    #expect(faults == [])
    #expect(paths.map(\.arrow) == Diagram(of: Stack()).arrows)
    #expect(paths.map(\.events.count) == [1, 2, 2, 3])
    for path in paths {
      var machine = StateMachine(Stack())
      for step in path.steps {
        #expect(machine.send(step.event) == .init(from: step.from, to: step.to))
      }
      let last = try #require(path.steps.last)
      #expect(Stack().name(of: last.from) == path.arrow.from)
      #expect(Stack().name(of: last.to) == path.arrow.to)
    }
  }

  @Test("an arrow that no sequence of the samples takes is found")
  func untaken() {
    let arrow = Diagram.Arrow(from: "filled", to: "filled", event: "popped", condition: "several")
    let (paths, faults) = Stack(grows: false).shortestPaths()
    #expect(faults == [.untakenArrow(arrow)])
    #expect(
      faults.map(\.description) == [
        "no sequence of the listed samples takes 'filled' –popped [several]→ 'filled'"
      ])
    #expect(paths.count == 2)
  }

  @Test("the search for paths ends at its limit, and finds what lies within it")
  func limit() {
    #expect(Endless(needed: 99).shortestPaths(visiting: 100).faults == [])
    #expect(Endless(needed: 99).shortestPaths(visiting: 99).faults.count == 1)
    #expect(Endless(needed: 1_000_000).shortestPaths(visiting: 100).paths.count == 1)
  }
}

@Suite("Final states")
struct FinalStateTests {
  @Test("a machine tells that it has come to its end, whatever the payload")
  func isFinal() throws {
    var machine = StateMachine(Counter())
    #expect(!machine.isFinal)
    machine.send(.ended)
    #expect(machine.isFinal && machine.nextStates == [])
    #expect(Counter().soundnessFaults == [])
    #expect(!StateMachine(Turnstile()).isFinal)

    let table = try TransitionTable(
      states: ["open", "shut"], initial: "open", finalStates: ["shut"],
      rows: [("open", "close", "shut")])
    #expect(table.soundnessFaults == [])
    #expect(StateMachine(table, in: "shut").isFinal)
  }

  @Test("states and events may hold any error")
  func anyError() {
    enum Attempt: Sendable { case trying, failed(any Error) }
    struct Offline: Error {}
    var machine = StateMachine(initial: Attempt.trying) { (_, error: any Error) in .failed(error) }
    guard case .failed(let error)? = machine.send(Offline())?.to else {
      Issue.record("no step")
      return
    }
    #expect(error is Offline)
    #expect(machine.stateName == "failed")
  }
}
