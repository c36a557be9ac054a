public import StateMachines

/// The registration of a callback, which lasts until ``end()`` or until the machine is deallocated.
public class Registration {
  /// Ends the registration: the callback is released and not called again, not even in the step
  /// that is under way.
  public func end() {}
}

/// A callback, which is for those steps for which all that is not `nil` holds.
@usableFromInline
final class Hook<R: Rules>: Registration {
  /// Whether it is only for steps that leave a state and enter one.
  @usableFromInline let isOfMoves: Bool
  /// The name of the state that is left, or entered.
  @usableFromInline let state: String?
  @usableFromInline let event: String?
  /// What must hold for the state that is left, or entered.
  @usableFromInline let condition: ((R.State) -> Bool)?
  /// What is called; `nil` once the registration has ended.
  @exclusivity(unchecked) @usableFromInline var action: ((ObservedMachine<R>.Step) -> Void)?

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
@usableFromInline
struct Hooks<R: Rules> {
  @usableFromInline var exits, befores, afters, entries: [Hook<R>]

  @inlinable var isEmpty: Bool {
    exits.isEmpty && befores.isEmpty && afters.isEmpty && entries.isEmpty
  }
}

/// A step, and the names of its states and its event, each made when it is first asked for.
@usableFromInline
struct NamedStep<R: Rules> {
  @usableFromInline let step: ObservedMachine<R>.Step
  @usableFromInline let machine: ObservedMachine<R>
  @usableFromInline var from, to, event: String?
  @usableFromInline var move: Bool?

  /// - Parameter from: the name of the state before the step, if it is known.
  @inlinable
  init(_ step: ObservedMachine<R>.Step, of machine: ObservedMachine<R>, from: String?) {
    (self.step, self.machine, self.from) = (step, machine, from)
  }

  /// The name of the state that is left, or entered.
  @inlinable
  mutating func state(isLeft: Bool) -> String {
    if let name = isLeft ? from : to { return name }
    let name = machine.stateNames.name(
      of: isLeft ? step.from : step.to, machine.rules.name(of:))
    if isLeft { from = name } else { to = name }
    return name
  }

  @inlinable
  mutating func eventName() -> String? {
    if event == nil {
      event = step.event.map { machine.eventNames.name(of: $0, machine.rules.name(ofEvent:)) }
    }
    return event
  }

  /// Whether the step leaves a state and enters one.
  @inlinable
  mutating func isMove() -> Bool {
    if let move { return move }
    let isMove =
      state(isLeft: true) != state(isLeft: false)
      || (step.event.map { machine.rules.reenters(step.from, on: $0) } ?? true)
    move = isMove
    return isMove
  }

  /// Calls the callbacks that are for this step, except those whose registration ends before.
  ///
  /// - Parameter isLeft: whether they are for the state that is left, not for that which is entered.
  @inlinable
  mutating func call(_ hooks: [Hook<R>], isLeft: Bool) {
    for hook in hooks {
      if let condition = hook.condition, !condition(isLeft ? step.from : step.to) { continue }
      if let name = hook.state, name != state(isLeft: isLeft) { continue }
      if let name = hook.event, name != eventName() { continue }
      if hook.isOfMoves, !isMove() { continue }
      hook.action?(step)
    }
  }
}

/// Names that are made once: those of values in one byte, such as enumerations without payloads.
@usableFromInline
final class KnownNames<Value> {
  @usableFromInline var names: [UInt8: String] = [:]

  init() {}

  @inlinable
  func name(of value: Value, _ make: (Value) -> String) -> String {
    guard MemoryLayout<Value>.size <= 1 else { return make(value) }
    let byte = withUnsafeBytes(of: value) { $0.first ?? 0 }
    if let name = names[byte] { return name }
    let name = make(value)
    names[byte] = name
    return name
  }
}
