import StateMachines

/// The machine that is measured: a coin unlocks, a push locks.
struct Turnstile: Rules {
  enum State: CaseIterable { case locked, unlocked }
  enum Event: CaseIterable { case coin, push }

  var initial: State { .locked }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.locked, .coin): .unlocked
    case (.unlocked, .push): .locked
    case (.locked, .push), (.unlocked, .coin): nil
    }
  }
}

/// The same, with payloads.
struct CountingTurnstile: Rules {
  enum State { case locked(Int), unlocked([Int]) }
  enum Event { case coin(Int), push(Int) }

  var initial: State { .locked(0) }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.locked, .coin(let coin)): .unlocked([coin])
    case (.unlocked, .push(let number)): .locked(number)
    case (.locked, .push), (.unlocked, .coin): nil
    }
  }
}

/// The same; it makes the names of its states.
struct NamedTurnstile: Rules {
  let rules = CountingTurnstile()
  var initial: CountingTurnstile.State { rules.initial }

  func next(
    _ state: CountingTurnstile.State, on event: CountingTurnstile.Event
  ) -> CountingTurnstile.State? { rules.next(state, on: event) }

  func name(of state: CountingTurnstile.State) -> String {
    switch state {
    case .locked: "locked"
    case .unlocked: "unlocked"
    }
  }
}

/// A table of closures.
struct ClosureTable {
  struct Pair: Hashable { let state: Turnstile.State, event: Turnstile.Event }

  private(set) var state = Turnstile.State.locked
  private let rows: [Pair: () -> Turnstile.State] = [
    Pair(state: .locked, event: .coin): { .unlocked },
    Pair(state: .unlocked, event: .push): { .locked },
  ]

  mutating func handle(_ event: Turnstile.Event) {
    if let row = rows[Pair(state: state, event: event)] { state = row() }
  }
}

/// What GKState is: a class for each state.
class ObjectState {
  func isValidNextState(_ next: ObjectState.Type) -> Bool { true }
  func didEnter(from previous: ObjectState?) {}
  func willExit(to next: ObjectState) {}
}

final class Locked: ObjectState {
  override func isValidNextState(_ next: ObjectState.Type) -> Bool { next == Unlocked.self }
}

final class Unlocked: ObjectState {
  override func isValidNextState(_ next: ObjectState.Type) -> Bool { next == Locked.self }
}

/// What GKStateMachine is.
final class ObjectMachine {
  private let states: [ObjectIdentifier: ObjectState]
  private(set) var current: ObjectState?

  init(_ states: [ObjectState]) {
    self.states = Dictionary(
      uniqueKeysWithValues: states.map { (ObjectIdentifier(type(of: $0)), $0) })
  }

  @discardableResult
  func enter(_ type: ObjectState.Type) -> Bool {
    guard let next = states[ObjectIdentifier(type)], current?.isValidNextState(type) ?? true else {
      return false
    }
    let previous = current
    previous?.willExit(to: next)
    current = next
    next.didEnter(from: previous)
    return true
  }
}
