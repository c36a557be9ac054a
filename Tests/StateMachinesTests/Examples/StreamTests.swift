import ObservedMachines
import StateMachines
import Testing

/// Counts in a circle; every routing counts as entering a state, also one back to the same.
func circle(reenters: @escaping @Sendable (Int, Int) -> Bool) -> ObservedMachine<
  TransitionFunction<Int, Int>
> {
  ObservedMachine(initial: 0, acceptingStates: [2], reenters: reenters) { state, event in
    (state + event) % 3
  }
}

@Suite("Example: observable stream", .timeLimit(.minutes(5)))
struct StreamTests {
  @Test("to the letter: every routing is told, at once, also one that leads back")
  func everyRouting() {
    let machine = circle { _, _ in true }
    var told: [String] = []
    machine.entering { told.append("\($0.from) → \($0.to)") }
    for (number, event) in [1, 0, 1, 0].enumerated() {
      machine.send(event)
      #expect(told.count == number + 1)
    }
    #expect(told == ["0 → 1", "1 → 1", "1 → 2", "2 → 2"])
    #expect(machine.isAccepting && !machine.isFinal)
    machine.send(1)
    #expect(!machine.isAccepting)
  }

  @Test("what differs by default: a routing back is a step, but enters nothing")
  func byDefault() {
    let machine = circle { _, _ in false }
    var (steps, entered): ([Int], [Int]) = ([], [])
    machine.after { steps.append($0.to) }
    machine.entering { entered.append($0.to) }
    for event in [1, 0, 1, 0] { machine.send(event) }
    #expect(steps == [1, 1, 2, 2] && entered == [1, 2])
  }

  @Test("what differs in sequences: they are read later, and states may be skipped, never the last")
  func sequences() async {
    var machine: ObservedMachine<TransitionFunction<Int, Int>>? = circle { _, _ in true }
    guard let states = machine?.states, let changes = machine?.changes() else { return }
    for event in [1, 0, 1, 0] { machine?.send(event) }
    machine = nil
    var read: [Int] = []
    for await state in states { read.append(state) }
    #expect(read == [2])
    var entered: [Int] = []
    for await change in changes where change.kind == .entering { entered.append(change.state) }
    #expect(entered == [1, 1, 2, 2])
  }
}
