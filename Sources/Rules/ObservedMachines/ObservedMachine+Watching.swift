public import StateMachines

// MARK: - Callbacks

// Each callback is called until its registration ends. All receive the step; callbacks for states
// with a payload receive the payload first. States and events are compared by their names.

extension ObservedMachine {
  /// Calls `action` whenever a state is left.
  @discardableResult
  public func leaving(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isForMovesOnly: true, action), to: \.exits)
  }

  /// Calls `action` whenever a state with the name of `state` is left.
  @discardableResult
  public func leaving(_ state: R.State, _ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isForMovesOnly: true, from: number(of: state), action), to: \.exits)
  }

  /// Calls `action` whenever a state with this payload is left.
  ///
  /// - Parameter payload: the payload of a state, or `nil` for states without it.
  @discardableResult
  public func leaving<Payload>(
    _ payload: @escaping (R.State) -> Payload?, _ action: @escaping (Payload, Step) -> Void
  ) -> Registration {
    let hook = Hook<R>(isForMovesOnly: true, condition: { payload($0) != nil }) { step in
      if let payload = payload(step.from) { action(payload, step) }
    }
    return add(hook, to: \.exits)
  }

  /// Calls `action` before each step.
  @discardableResult
  public func before(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(action), to: \.befores)
  }

  /// Calls `action` before each step from `state`, by `event`, to `next`; `nil` stands for any
  /// state or event. Only names are compared; `action` finds the payloads in the step.
  ///
  ///     try machine.before(.locked, on: .coin) { step in … }
  ///     try machine.before(to: .unlocked) { step in … }
  @discardableResult
  public func before(
    _ state: R.State? = nil, on event: R.Event? = nil, to next: R.State? = nil,
    _ action: @escaping (Step) -> Void
  ) throws(NoSuchStep) -> Registration {
    add(try checked(hook(state, event, next, action)), to: \.befores)
  }

  /// Calls `action` after each step.
  @discardableResult
  public func after(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(action), to: \.afters)
  }

  /// Calls `action` after each step from `state`, by `event`, to `next`, as for
  /// ``before(_:on:to:_:)``.
  @discardableResult
  public func after(
    _ state: R.State? = nil, on event: R.Event? = nil, to next: R.State? = nil,
    _ action: @escaping (Step) -> Void
  ) throws(NoSuchStep) -> Registration {
    add(try checked(hook(state, event, next, action)), to: \.afters)
  }

  /// Calls `action` whenever a state is entered, also by ``start()``.
  @discardableResult
  public func entering(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isForMovesOnly: true, action), to: \.entries)
  }

  /// Calls `action` whenever a state with the name of `state` is entered, also by ``start()``.
  @discardableResult
  public func entering(_ state: R.State, _ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isForMovesOnly: true, to: number(of: state), action), to: \.entries)
  }

  /// Calls `action` whenever a state with this payload is entered, also by ``start()``.
  ///
  ///     machine.entering(\.error) { error, _ in show(error) }
  ///
  /// - Parameter payload: the payload of a state, or `nil` for states without it.
  @discardableResult
  public func entering<Payload>(
    _ payload: @escaping (R.State) -> Payload?, _ action: @escaping (Payload, Step) -> Void
  ) -> Registration {
    let hook = Hook<R>(isForMovesOnly: true, condition: { payload($0) != nil }) { step in
      if let payload = payload(step.to) { action(payload, step) }
    }
    return add(hook, to: \.entries)
  }

  func hook(
    _ state: R.State?, _ event: R.Event?, _ next: R.State?,
    _ action: @escaping (Step) -> Void
  ) -> Hook<R> {
    let event = event.map { eventNames.number(of: $0, rules.name(ofEvent:)) }
    return Hook(from: state.map(number(of:)), event: event, to: next.map(number(of:)), action)
  }

  private func number(of state: R.State) -> NameNumber {
    stateNames.number(of: state, rules.name(of:))
  }

  /// Returns `hook`, or throws if no step calls it. Rules that cannot be drawn accept any callback.
  private func checked(_ hook: Hook<R>) throws(NoSuchStep) -> Hook<R> {
    let names = names(of: hook)
    let arrows = (rules as? any DrawableRules).map { Diagram(of: $0).arrows }
    if arrows?.contains(where: names.fits) == false { throw names }
    return hook
  }

  func names(of hook: Hook<R>) -> NoSuchStep {
    NoSuchStep(
      from: hook.from.map { stateNames.texts[$0] }, event: hook.event.map { eventNames.texts[$0] },
      to: hook.to.map { stateNames.texts[$0] })
  }
}

/// The error for a callback that no step would call, judged by the samples of the rules.
public struct NoSuchStep: Error, Hashable, CustomStringConvertible {
  /// The names of the two states and of the event that the callback is for; `nil` stands for any.
  public let from, event, to: String?

  func fits(_ arrow: Diagram.Arrow) -> Bool {
    (from ?? arrow.from) == arrow.from && (event ?? arrow.event) == arrow.event
      && (to ?? arrow.to) == arrow.to
  }

  /// A message that names the missing step.
  public var description: String {
    "the rules have no step" + (from.map { " from '\($0)'" } ?? "")
      + (to.map { " to '\($0)'" } ?? "") + (event.map { " on '\($0)'" } ?? "")
  }
}
