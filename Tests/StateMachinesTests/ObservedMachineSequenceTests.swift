import ObservedMachines
import StateMachines
import Testing

extension Changes where R == Counter {
  /// All elements, in words.
  fileprivate func words() async -> [String] {
    var words: [String] = []
    for await change in self {
      switch change {
      case .willExit(let step): words.append("willExit \(step.from)")
      case .didEnter(let state, nil): words.append("didEnter \(state) at the start")
      case .didEnter(let state, let step?): words.append("didEnter \(state) on \(step.event)")
      case .missed(let count): words.append("missed \(count)")
      }
    }
    return words
  }
}

@Suite("Observed machine: sequences")
struct ObservedMachineSequenceTests {
  @Test("states begin with the present one, tell new payloads, and end at a final state")
  func states() async {
    let machine = ObservedMachine(Counter(), in: .counting(3))
    var read = machine.states.makeAsyncIterator()
    #expect(await read.next() == .counting(3))
    machine.send(.counted)
    #expect(await read.next() == .counting(4))
    machine.send(.ended)
    #expect(await read.next() == .done)
    #expect(await read.next() == nil)
    var late: [Counter.State] = []
    for await state in machine.states { late.append(state) }
    #expect(late == [.done], "what begins after the end tells the end")
    for await _ in machine.changes() { Issue.record("a change after the end") }
  }

  @Test("a slow reader of states skips values, never the last, and never goes back")
  func slowStates() async {
    let machine = ObservedMachine(Counter())
    let states = machine.states
    for _ in 0..<100 { machine.send(.counted) }
    var read = states.makeAsyncIterator()
    #expect(await read.next() == .counting(100))
    for _ in 0..<3 { machine.send(.counted) }
    #expect(await read.next() == .counting(103))
  }

  @Test("a sequence of states that begins within a step is told the outcome of the step")
  func statesWithinAStep() async throws {
    let machine = ObservedMachine(Counter())
    var begun: [AsyncStream<Counter.State>] = []
    let early = machine.before { [unowned machine] _ in begun.append(machine.states) }
    let late = machine.after { [unowned machine] _ in begun.append(machine.states) }
    machine.send(.counted)
    early.end()
    late.end()
    #expect(begun.count == 2)
    for states in begun {
      var read = states.makeAsyncIterator()
      #expect(await read.next() == .counting(1))
    }
  }

  @Test("every sequence of changes tells all of them in order, and ends with the machine")
  func changes() async {
    var machine: ObservedMachine<Counter>? = ObservedMachine(Counter())
    let sequences = (0..<3).compactMap { _ in machine?.changes() }
    machine?.start()
    machine?.send(.counted)
    machine?.send(.ended)
    machine = nil
    for changes in sequences {
      #expect(
        await changes.words() == [
          "didEnter counting(0) at the start", "willExit counting(1)", "didEnter done on ended",
        ])
    }
  }

  @Test("what a slow reader of changes loses is counted in its place", arguments: 1...4)
  func slow(_ kept: Int) async {
    var machine: ObservedMachine<Turnstile>? = ObservedMachine(Turnstile())
    guard let changes = machine?.changes(keepingNewest: kept) else { return }
    for _ in 0..<3 {
      machine?.send(.coin)
      machine?.send(.push)
    }
    machine = nil
    var missed: [Int] = []
    var told: [String] = []
    for await change in changes {
      switch change {
      case .missed(let count): missed.append(count)
      case .willExit(let step): told.append("willExit \(step.from)")
      case .didEnter(let state, _): told.append("didEnter \(state)")
      }
    }
    let all = ["willExit locked", "didEnter unlocked", "willExit unlocked", "didEnter locked"]
    #expect(missed == [12 - kept])
    #expect(told == Array(all.suffix(kept)))
  }

  @Test("a sequence that begins later tells later changes only, and counts none as missed")
  func later() async {
    var machine: ObservedMachine<Counter>? = ObservedMachine(Counter())
    machine?.start()
    var changes: Changes<Counter>?
    let registration = machine?.before { [weak machine] _ in changes = machine?.changes() }
    machine?.send(.counted)
    registration?.end()
    machine?.send(.ended)
    machine = nil
    #expect(await changes?.words() == ["willExit counting(1)", "didEnter done on ended"])
  }

  @Test("changes with any error are read in another task while the machine runs, which can leave")
  func otherTask() async {
    let machine = ObservedMachine(EditForm())
    let changes = machine.changes()
    let reader = Task { () -> [String] in
      var read: [String] = []
      for await case .didEnter(.saved(.fail(let error)), let step) in changes {
        read.append("\(error) from \(step.map { "\($0.from)" } ?? "nowhere")")
        if read.count == 20 { break }
      }
      return read
    }
    let events: [EditForm.Event] = [
      .save, .confirm(true), .finishSave(.fail(SavingError.full)), .shownResult,
    ]
    for _ in 0..<20 {
      for event in events { machine.send(event) }
      await Task.yield()
    }
    #expect(await reader.value == Array(repeating: "full from saving", count: 20))
    machine.send(.save)
    #expect(machine.stateName == "confirming", "the machine goes on without the reader")
  }

  @Test("a reader whose task is cancelled ends")
  func cancelled() async {
    let machine = ObservedMachine(Turnstile())
    let changes = machine.changes()
    let reader = Task { for await _ in changes {} }
    reader.cancel()
    await reader.value
    machine.send(.coin)
    #expect(machine.state == .unlocked)
  }
}
