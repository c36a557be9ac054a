public import StateMachines

/// The registration of a callback, which lasts until ``end()`` or until the machine is deallocated.
public class Registration {
  /// Ends the registration: the callback is released and not called again, not even in the step
  /// that is under way.
  public func end() {}
}

/// A callback for the steps that meet all its conditions; a name that is `nil` is no condition.
@usableFromInline final class Hook<R: Rules>: Registration {
  /// Whether the callback is only for steps that leave a state and enter one.
  @usableFromInline let isOfMoves: Bool
  @usableFromInline let from, event, to: Name?
  /// For ``HookFault``: whether the callback acts when this state is left or entered.
  let condition: ((R.State) -> Bool)?
  /// What is called; `nil` once the registration has ended.
  @exclusivity(unchecked) @usableFromInline var action: ((ObservedMachine<R>.Step) -> Void)?

  init(
    isOfMoves: Bool = false, from: Name? = nil, event: Name? = nil, to: Name? = nil,
    condition: ((R.State) -> Bool)? = nil, _ action: @escaping (ObservedMachine<R>.Step) -> Void
  ) {
    (self.isOfMoves, self.from, self.event, self.to) = (isOfMoves, from, event, to)
    (self.condition, self.action) = (condition, action)
  }

  override func end() { action = nil }
}

/// The callbacks of a machine, each list in the order of registration.
@usableFromInline struct Hooks<R: Rules> {
  @usableFromInline var exits: [Hook<R>] = []
  @usableFromInline var befores: [Hook<R>] = []
  @usableFromInline var afters: [Hook<R>] = []
  @usableFromInline var entries: [Hook<R>] = []
  /// Whether a callback is for one event; only then does a step need the name of its event.
  @usableFromInline var useEventNames = false
}

/// A step, and the names of its states and its event.
@usableFromInline struct NamedStep<R: Rules> {
  @usableFromInline let step: ObservedMachine<R>.Step
  @usableFromInline let from, to: Name
  @usableFromInline let event: Name?
  /// Whether the step leaves a state and enters one.
  @usableFromInline let isMove: Bool

  @inlinable init(_ step: ObservedMachine<R>.Step, of machine: ObservedMachine<R>) {
    let rules = machine.rules
    self.step = step
    from = machine.name ?? machine.stateNames.name(of: step.from, rules.name(of:))
    to = machine.stateNames.name(of: step.to, rules.name(of:))
    machine.name = to
    event =
      machine.hooks.useEventNames
      ? step.event.map { machine.eventNames.name(of: $0, rules.name(ofEvent:)) } : nil
    isMove = from != to || step.event.map { rules.reenters(step.from, on: $0) } ?? true
  }

  /// Calls the callbacks that are for this step, unless an earlier one ends their registration.
  @inlinable func call(_ hooks: [Hook<R>]) {
    for hook in hooks
    where (isMove || !hook.isOfMoves) && (hook.from ?? from) == from && (hook.to ?? to) == to
      && (hook.event ?? event) == event
    {
      hook.action?(step)
    }
  }
}

/// The number of a name within a machine: numbers are compared faster than strings.
@usableFromInline typealias Name = Int

/// The names of the states or the events of a machine.
@usableFromInline struct Names<Value> {
  private(set) var texts: [String] = []
  private var numbers: [String: Name] = [:]
  /// The names of values of one byte, such as enumerations without payloads: to make the text of a
  /// name takes a microsecond or two.
  @usableFromInline var ofBytes: [Name?] = []

  @inlinable mutating func name(of value: Value, _ text: (Value) -> String) -> Name {
    guard MemoryLayout<Value>.size == 1 else { return name(text(value)) }
    let byte = withUnsafeBytes(of: value) { Int($0[0]) }
    if byte < ofBytes.count, let name = ofBytes[byte] { return name }
    let name = name(text(value))
    ofBytes += repeatElement(nil, count: max(0, byte + 1 - ofBytes.count))
    ofBytes[byte] = name
    return name
  }

  @usableFromInline mutating func name(_ text: String) -> Name {
    if let known = numbers[text] { return known }
    numbers[text] = texts.count
    texts.append(text)
    return texts.count - 1
  }
}
