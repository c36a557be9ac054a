import ObservedMachines
import StateMachines
import Testing

/// All changes, in words.
private func words<R>(_ changes: AsyncStream<ObservedMachine<R>.Change>?) async -> [String] {
  var words: [String] = []
  guard let changes else { return [] }
  for await change in changes {
    let start = change.step.event == nil ? " at the start" : ""
    words.append("\(change.number) \(change.kind) \(change.state)\(start)")
  }
  return words
}

/// What a task was told.
@MainActor
private final class Heard { var state: Turnstile.State? }

@Suite("Observed machine: sequences", .timeLimit(.minutes(5)))
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

  @Test("a sequence that begins within the last step does not end the others before that step has")
  func lastStep() async {
    let machine = ObservedMachine(Counter())
    let changes = machine.changes()
    machine.after { [unowned machine] _ in _ = machine.states }
    machine.send(.ended)
    #expect(await words(changes) == ["0 leaving counting(0)", "1 entering done"])
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
        await words(changes) == [
          "0 entering counting(0) at the start", "1 leaving counting(1)", "2 entering done",
        ])
    }
  }

  @Test("the numbers show how many changes a slow reader has lost", arguments: 1...4)
  func slow(_ kept: Int) async {
    var machine: ObservedMachine<Turnstile>? = ObservedMachine(Turnstile())
    guard let changes = machine?.changes(keepingNewest: kept) else { return }
    for _ in 0..<3 {
      machine?.send(.coin)
      machine?.send(.push)
    }
    machine = nil
    let all = [
      "8 leaving locked", "9 entering unlocked", "10 leaving unlocked", "11 entering locked",
    ]
    #expect(await words(changes) == Array(all.suffix(kept)))
  }

  @Test("a sequence that begins later tells later changes only")
  func later() async {
    var machine: ObservedMachine<Counter>? = ObservedMachine(Counter())
    machine?.start()
    var changes: AsyncStream<ObservedMachine<Counter>.Change>?
    let registration = machine?.before { [weak machine] _ in changes = machine?.changes() }
    machine?.send(.counted)
    registration?.end()
    machine?.send(.ended)
    machine = nil
    #expect(await words(changes) == ["0 leaving counting(1)", "1 entering done"])
  }

  @Test("a sequence whose reader has gone takes nothing from those that began later")
  func gone() async {
    let machine = ObservedMachine(Counter())
    var sequences = (0..<3).map { _ in machine.changes() }
    sequences.removeFirst()
    machine.send(.ended)
    for changes in sequences {
      #expect(await words(changes) == ["0 leaving counting(0)", "1 entering done"])
    }
  }

  @Test("who waits for a state is told of it, however short its stay")
  @MainActor
  func waiting() async {
    let machine = ObservedMachine(Counter())
    #expect(await machine.wait(for: .counting(9)) == .counting(0), "it is in that state")
    let waiting = Task { await machine.wait(for: .done) }
    await Task.yield()
    machine.send(.counted)
    machine.send(.ended)
    #expect(await waiting.value == .done)
    #expect(await machine.wait(for: .counting(0)) == nil, "it has ended")

    let turnstile = ObservedMachine(Turnstile())
    turnstile.entering(.unlocked) { [unowned turnstile] _ in turnstile.send(.push) }
    let heard = Heard()
    let unlocking = Task { heard.state = await turnstile.wait(for: .unlocked) }
    while heard.state == nil {
      turnstile.send(.coin)
      #expect(turnstile.state == .locked)
      await Task.yield()
    }
    await unlocking.value
    #expect(heard.state == .unlocked)

    let cancelled = Task { await turnstile.wait(for: .unlocked) }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
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
