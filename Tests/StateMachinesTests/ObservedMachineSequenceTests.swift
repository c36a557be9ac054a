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

/// Owns a machine, as an actor does.
private actor Gate {
  private let machine = ObservedMachine(Turnstile())
  private var entered: [Turnstile.State] = []

  var states: AsyncStream<Turnstile.State> { machine.states }

  init() {}

  func begin() {
    machine.observe(didEnter: { [weak self] state in
      self?.assumeIsolated { $0.entered.append(state) }
    })
    machine.start()
  }

  func send(_ event: Turnstile.Event) -> [Turnstile.State] {
    machine.send(event)
    return entered
  }
}

/// Owns a machine of any rules, as an actor does.
private actor Owner<R: Rules> {
  private let machine: ObservedMachine<R>

  init(_ rules: R) { machine = ObservedMachine(rules) }

  var changes: Changes<R> { machine.changes() }

  func send(_ events: [R.Event]) { for event in events { machine.send(event) } }
}

/// A screen, which the main actor draws.
@MainActor
private final class Screen {
  let machine = ObservedMachine(Turnstile())
  private(set) var shown: [String] = []

  init() {
    machine.entering(.unlocked) { [unowned self] state, _ in shown.append("entered \(state)") }
  }

  /// Draws states until the turnstile is unlocked.
  func draw() async {
    for await state in machine.states {
      shown.append("drew \(state)")
      if state == .unlocked { return }
    }
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

  @Test("a sequence can be read in another task while the machine runs, and be left")
  func otherTask() async {
    let machine = ObservedMachine(Turnstile())
    let changes = machine.changes()
    let reader = Task { () -> Int in
      var count = 0
      for await _ in changes {
        count += 1
        if count == 400 { break }
      }
      return count
    }
    for _ in 0..<100 {
      machine.send(.coin)
      machine.send(.push)
      await Task.yield()
    }
    #expect(await reader.value == 400)
    // The reader has ended; the machine goes on.
    machine.send(.coin)
    #expect(machine.state == .unlocked)
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

  @Test("an actor owns a machine, and others read its states")
  func ownedByAnActor() async {
    let gate = Gate()
    await gate.begin()
    let states = await gate.states
    var read = states.makeAsyncIterator()
    #expect(await read.next() == .locked)
    #expect(await gate.send(.coin) == [.locked, .unlocked])
    #expect(await read.next() == .unlocked)
  }

  @Test("changes with any error in them are read in another task than their actor's")
  func errors() async {
    let owner = Owner(EditForm())
    let changes = await owner.changes
    let reader = Task { () -> [String] in
      var read: [String] = []
      for await case .didEnter(.saved(.fail(let error)), let step) in changes {
        read.append("\(error) from \(step.map { "\($0.from)" } ?? "nowhere")")
        if read.count == 2 { break }
      }
      return read
    }
    let events: [EditForm.Event] = [
      .save, .confirm(true), .finishSave(.fail(SavingError.full)), .shownResult,
    ]
    await owner.send(events + events)
    #expect(await reader.value == ["full from saving", "full from saving"])
  }

  @Test("the main actor owns a machine, and reads its states and callbacks")
  @MainActor
  func ownedByTheMainActor() async {
    let screen = Screen()
    let drawing = Task { await screen.draw() }
    while screen.shown.isEmpty { await Task.yield() }
    screen.machine.send(.coin)
    await drawing.value
    #expect(screen.shown == ["drew locked", "entered unlocked", "drew unlocked"])
  }
}
