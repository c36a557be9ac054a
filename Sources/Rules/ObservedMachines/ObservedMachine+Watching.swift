public import StateMachines

// MARK: - Callbacks

// Each is called until the returned registration is ended. All receive the step; those for states
// with a payload receive the payload first.

extension ObservedMachine {
  /// Calls `action` whenever a state is left.
  @discardableResult
  public func leaving(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isOfMoves: true, action), to: \.exits)
  }

  /// Calls `action` whenever a state with the name of `state` is left.
  @discardableResult
  public func leaving(_ state: R.State, _ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isOfMoves: true, state: rules.name(of: state), action), to: \.exits)
  }

  /// Calls `action` whenever a state is left that has this payload.
  ///
  /// - Parameter payload: the payload of a state, or `nil` for states without it.
  @discardableResult
  public func leaving<Payload>(
    _ payload: @escaping (R.State) -> Payload?, _ action: @escaping (Payload, Step) -> Void
  ) -> Registration {
    let hook = Hook<R>(isOfMoves: true, condition: { payload($0) != nil }) { step in
      if let payload = payload(step.from) { action(payload, step) }
    }
    return add(hook, to: \.exits)
  }

  /// Calls `action` before each step.
  @discardableResult
  public func before(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(action), to: \.befores)
  }

  /// Calls `action` before each step of one row, that of `state` and `event`. Both are judged by
  /// their names; the step has their payloads.
  @discardableResult
  public func before(
    _ state: R.State, on event: R.Event, _ action: @escaping (Step) -> Void
  ) -> Registration {
    add(hook(state, event, action), to: \.befores)
  }

  /// Calls `action` after each step.
  @discardableResult
  public func after(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(action), to: \.afters)
  }

  /// Calls `action` after each step of one row, that of `state` and `event`. Both are judged by
  /// their names; the step has their payloads.
  @discardableResult
  public func after(
    _ state: R.State, on event: R.Event, _ action: @escaping (Step) -> Void
  ) -> Registration {
    add(hook(state, event, action), to: \.afters)
  }

  func hook(
    _ state: R.State, _ event: R.Event, _ action: @escaping (Step) -> Void
  ) -> Hook<R> {
    Hook(state: rules.name(of: state), event: rules.name(ofEvent: event), action)
  }

  /// Calls `action` whenever a state is entered, also by ``start()``.
  @discardableResult
  public func entering(_ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isOfMoves: true, action), to: \.entries)
  }

  /// Calls `action` whenever a state with the name of `state` is entered, also by ``start()``.
  @discardableResult
  public func entering(_ state: R.State, _ action: @escaping (Step) -> Void) -> Registration {
    add(Hook(isOfMoves: true, state: rules.name(of: state), action), to: \.entries)
  }

  /// Calls `action` whenever a state is entered that has this payload, also by ``start()``.
  ///
  ///     machine.entering(\.error) { error, _ in show(error) }
  ///
  /// - Parameter payload: the payload of a state, or `nil` for states without it.
  @discardableResult
  public func entering<Payload>(
    _ payload: @escaping (R.State) -> Payload?, _ action: @escaping (Payload, Step) -> Void
  ) -> Registration {
    let hook = Hook<R>(isOfMoves: true, condition: { payload($0) != nil }) { step in
      if let payload = payload(step.to) { action(payload, step) }
    }
    return add(hook, to: \.entries)
  }
}
