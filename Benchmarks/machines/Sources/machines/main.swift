import ObservedMachines
import StateMachines

/// Prints the nanoseconds that an event takes; `send` gets the number of the event.
func measure(_ what: String, _ send: (Int) -> Void) {
  let count = 1_000_000
  let clock = ContinuousClock()
  for number in 0..<1000 { send(number) }
  let taken = clock.measure { for number in 0..<count { send(number) } }
  print("\(what)\t\(taken / .nanoseconds(count))")
}

/// The same, for an event whose state is read from `states`.
func measureReading(_ what: String) async {
  let machine = ObservedMachine(Turnstile())
  var states = machine.states.makeAsyncIterator()
  let (count, clock) = (200_000, ContinuousClock())
  let start = clock.now
  for number in 0..<count {
    machine.send(number & 1 == 0 ? .coin : .push)
    _ = await states.next()
  }
  print("\(what)\t\((clock.now - start) / .nanoseconds(count))")
}

/// A value that the compiler does not know.
@inline(never) func unknown<Value>(_ value: Value) -> Value { value }

final class Counter { var calls = 0 }

let events: [Turnstile.Event] = unknown([.coin, .push])
let payloads: [CountingTurnstile.Event] = unknown([.coin(1), .push(2)])
let counter = Counter()

func observed(_ add: (ObservedMachine<Turnstile>) throws -> Void) rethrows -> (Int) -> Void {
  let machine = ObservedMachine(Turnstile())
  try add(machine)
  return { machine.send(events[$0 & 1]) }
}

let rules = unknown(Turnstile())
var state = Turnstile.State.locked
measure("a `switch` by hand") { number in
  if let next = rules.next(state, on: events[number & 1]) { state = next }
}

var machine = StateMachine(Turnstile())
measure("`StateMachine`") { machine.send(events[$0 & 1]) }

var table = StateMachine(
  try TransitionTable<Turnstile.State, Turnstile.Event>(
    states: Turnstile.State.allCases, initial: .locked,
    rows: [(.locked, .coin, .unlocked), (.unlocked, .push, .locked)]))
measure("`TransitionTable` of enumerations") { table.send(events[$0 & 1]) }

let words = unknown(["coin", "push"])
var strings = StateMachine(
  try TransitionTable(
    states: ["locked", "unlocked"], initial: "locked",
    rows: [("locked", "coin", "unlocked"), ("unlocked", "push", "locked")]))
measure("`TransitionTable` of strings") { strings.send(words[$0 & 1]) }

var closures = ClosureTable()
measure("a dictionary of closures") { closures.handle(events[$0 & 1]) }

let objects = ObjectMachine([Locked(), Unlocked()])
objects.enter(Locked.self)
let types: [ObjectState.Type] = unknown([Unlocked.self, Locked.self])
measure("classes, as GKStateMachine") { objects.enter(types[$0 & 1]) }

measure("`ObservedMachine`", observed { _ in })
measure(
  "… with a callback that is called",
  observed { $0.after { _ in counter.calls += 1 } })
measure(
  "… with two of them",
  observed { machine in
    machine.before { _ in counter.calls += 1 }
    machine.after { _ in counter.calls += 1 }
  })
measure(
  "… entering and leaving each state, two of four called",
  observed { machine in
    for state in Turnstile.State.allCases {
      machine.entering(state) { _ in counter.calls += 1 }
      machine.leaving(state) { _ in counter.calls += 1 }
    }
  })
measure(
  "… with callbacks for 13 rows, one called",
  try observed { machine in
    try machine.after(.locked, on: .coin) { _ in counter.calls += 1 }
    try machine.after(.unlocked, on: .push) { _ in counter.calls += 1 }
    for _ in 2..<13 { try machine.after(.locked, on: .push) { _ in counter.calls += 1 } }
  })
await measureReading("… with a reader of `states`, which reads each")

let named = ObservedMachine(NamedTurnstile())
named.entering(.locked(0)) { _ in counter.calls += 1 }
named.entering(.unlocked([])) { _ in counter.calls += 1 }
measure("… entering states with payloads, which the rules name") { named.send(payloads[$0 & 1]) }

let unnamed = ObservedMachine(CountingTurnstile())
unnamed.entering(.locked(0)) { _ in counter.calls += 1 }
unnamed.entering(.unlocked([])) { _ in counter.calls += 1 }
measure("… entering states with payloads, which the library names") {
  unnamed.send(payloads[$0 & 1])
}
