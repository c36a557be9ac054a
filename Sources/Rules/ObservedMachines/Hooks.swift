import StateMachines

/// The registration of a callback, which lasts until ``end()`` or until the machine is deallocated.
public class Registration {
  /// Ends the registration: the callback is released and not called again, not even in the step
  /// that is under way.
  public func end() {}
}

/// A callback for the steps that meet all its conditions; a property that is `nil` is no condition.
final class Hook<R: Rules>: Registration {
  /// Whether it is only for steps that leave a state and enter one.
  let isOfMoves: Bool
  /// The name of the state that is left, or entered.
  let state: String?
  let event: String?
  /// What must hold for the state that is left, or entered.
  let condition: ((R.State) -> Bool)?
  /// What is called; `nil` once the registration has ended.
  var action: ((ObservedMachine<R>.Step) -> Void)?

  init(
    isOfMoves: Bool = false, state: String? = nil, event: String? = nil,
    condition: ((R.State) -> Bool)? = nil, _ action: @escaping (ObservedMachine<R>.Step) -> Void
  ) {
    (self.isOfMoves, self.state, self.event) = (isOfMoves, state, event)
    (self.condition, self.action) = (condition, action)
  }

  override func end() { action = nil }
}

/// The callbacks of a machine, each list in the order of registration.
struct Hooks<R: Rules> {
  var exits: [Hook<R>] = []
  var befores: [Hook<R>] = []
  var afters: [Hook<R>] = []
  var entries: [Hook<R>] = []
}

/// A step, and the names of its states and its event.
struct NamedStep<R: Rules> {
  let step: ObservedMachine<R>.Step
  private let from, to: String
  private let event: String?
  /// Whether the step leaves a state and enters one.
  let isMove: Bool

  init(_ step: ObservedMachine<R>.Step, of machine: ObservedMachine<R>) {
    let rules = machine.rules
    self.step = step
    from = machine.stateNames.name(of: step.from, rules.name(of:))
    to = machine.stateNames.name(of: step.to, rules.name(of:))
    event = step.event.map { machine.eventNames.name(of: $0, rules.name(ofEvent:)) }
    isMove = from != to || step.event.map { rules.reenters(step.from, on: $0) } ?? true
  }

  /// Calls the callbacks that are for this step, unless an earlier one ends their registration.
  ///
  /// - Parameter isLeft: whether they are for the state that is left, not for the one entered.
  func call(_ hooks: [Hook<R>], isLeft: Bool) {
    let (state, name) = isLeft ? (step.from, from) : (step.to, to)
    for hook in hooks
    where (hook.state ?? name) == name && (hook.event ?? event) == event
      && (isMove || !hook.isOfMoves) && hook.condition?(state) ?? true
    {
      hook.action?(step)
    }
  }
}

/// The names of values in one byte, such as enumerations without payloads, made once each: a name
/// takes the library a microsecond or two.
struct KnownNames<Value> {
  private var names: [UInt8: String] = [:]

  mutating func name(of value: Value, _ make: (Value) -> String) -> String {
    guard MemoryLayout<Value>.size == 1 else { return make(value) }
    let byte = withUnsafeBytes(of: value) { $0[0] }
    if let name = names[byte] { return name }
    let name = make(value)
    names[byte] = name
    return name
  }
}
