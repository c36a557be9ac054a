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
  @usableFromInline let isForMovesOnly: Bool
  @usableFromInline let from, event, to: NameNumber?
  /// For ``HookFault``: whether the callback acts when this state is left or entered.
  let condition: ((R.State) -> Bool)?
  /// What is called; `nil` once the registration has ended.
  @exclusivity(unchecked) @usableFromInline var action: ((ObservedMachine<R>.Step) -> Void)?

  init(
    isForMovesOnly: Bool = false, from: NameNumber? = nil, event: NameNumber? = nil,
    to: NameNumber? = nil,
    condition: ((R.State) -> Bool)? = nil, _ action: @escaping (ObservedMachine<R>.Step) -> Void
  ) {
    (self.isForMovesOnly, self.from, self.event, self.to) = (isForMovesOnly, from, event, to)
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
  @usableFromInline var needsEventNames = false
}

/// A step, and the names of its states and its event.
@usableFromInline struct NamedStep<R: Rules> {
  @usableFromInline let step: ObservedMachine<R>.Step
  @usableFromInline let from, to: NameNumber
  @usableFromInline let event: NameNumber?
  /// Whether the step leaves a state and enters one.
  @usableFromInline let isMove: Bool

  @inlinable init(_ step: ObservedMachine<R>.Step, of machine: ObservedMachine<R>) {
    let rules = machine.rules
    self.step = step
    from = machine.stateNumber ?? machine.stateNames.number(of: step.from, rules.name(of:))
    to = machine.stateNames.number(of: step.to, rules.name(of:))
    machine.stateNumber = to
    event =
      machine.hooks.needsEventNames
      ? step.event.map { machine.eventNames.number(of: $0, rules.name(ofEvent:)) } : nil
    isMove = from != to || step.event.map { rules.reenters(step.from, on: $0) } ?? true
  }

  /// Calls the callbacks for this step, unless an earlier callback ends their registration.
  @inlinable func call(_ hooks: [Hook<R>]) {
    for hook in hooks
    where (isMove || !hook.isForMovesOnly) && (hook.from ?? from) == from && (hook.to ?? to) == to
      && (hook.event ?? event) == event
    {
      hook.action?(step)
    }
  }
}

/// The number of a name within a machine: numbers are compared faster than strings.
@usableFromInline typealias NameNumber = Int

/// The names of the states or the events of a machine, and their numbers.
@usableFromInline struct NameNumbers<Value> {
  private(set) var texts: [String] = []
  private var numbers: [String: NameNumber] = [:]
  /// The numbers of values of one byte, by their byte: enumerations without payloads are one byte.
  /// Without this list, each step would make the text of a name, which takes a microsecond or two.
  @usableFromInline var numbersOfBytes: [NameNumber?] = []

  @inlinable mutating func number(of value: Value, _ text: (Value) -> String) -> NameNumber {
    guard MemoryLayout<Value>.size == 1 else { return number(ofName: text(value)) }
    let byte = withUnsafeBytes(of: value) { Int($0[0]) }
    if byte < numbersOfBytes.count, let number = numbersOfBytes[byte] { return number }
    let number = number(ofName: text(value))
    numbersOfBytes += repeatElement(nil, count: max(0, byte + 1 - numbersOfBytes.count))
    numbersOfBytes[byte] = number
    return number
  }

  @usableFromInline mutating func number(ofName text: String) -> NameNumber {
    if let known = numbers[text] { return known }
    numbers[text] = texts.count
    texts.append(text)
    return texts.count - 1
  }
}
