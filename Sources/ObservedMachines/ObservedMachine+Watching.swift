public import StateMachines

// MARK: - Callbacks

extension ObservedMachine {
  /// Calls `willExit` and `didEnter` for each state that is left and entered, until the returned
  /// registration is ended.
  @discardableResult
  public func observe(
    willExit: @escaping (R.State) -> Void = { _ in },
    didEnter: @escaping (R.State) -> Void = { _ in }
  ) -> Registration {
    let exit = exits.add { willExit($0.from) }
    let entry = entries.add { state, _ in didEnter(state) }
    return Registration {
      exit.end()
      entry.end()
    }
  }

  /// Calls `action` whenever a state with the name of `state` is entered, with the state that is
  /// entered and the step that led to it, until the returned registration is ended. The step is
  /// `nil` for ``start()``.
  @discardableResult
  public func entering(
    _ state: R.State, _ action: @escaping (R.State, Step?) -> Void
  ) -> Registration {
    let name = rules.name(of: state)
    return entries.add { [rules] state, step in
      if rules.name(of: state) == name { action(state, step) }
    }
  }

  /// Calls `action` whenever a state with the name of `state` is left, until the returned
  /// registration is ended.
  @discardableResult
  public func leaving(_ state: R.State, _ action: @escaping (Step) -> Void) -> Registration {
    let name = rules.name(of: state)
    return exits.add { [rules] step in
      if rules.name(of: step.from) == name { action(step) }
    }
  }

  /// Calls `action` whenever a state is entered that has this payload, with the payload and the
  /// step that led to the state, until the returned registration is ended. The step is `nil`
  /// for ``start()``.
  ///
  ///     machine.entering(\.error) { error, _ in show(error) }
  ///
  /// - Parameter payload: the payload of a state, or `nil` for states without it.
  @discardableResult
  public func entering<Payload>(
    _ payload: @escaping (R.State) -> Payload?, _ action: @escaping (Payload, Step?) -> Void
  ) -> Registration {
    entries.add { state, step in
      if let payload = payload(state) { action(payload, step) }
    }
  }

  /// Calls `action` whenever a state is left that has this payload, with the payload and the step,
  /// until the returned registration is ended.
  ///
  /// - Parameter payload: the payload of a state, or `nil` for states without it.
  @discardableResult
  public func leaving<Payload>(
    _ payload: @escaping (R.State) -> Payload?, _ action: @escaping (Payload, Step) -> Void
  ) -> Registration {
    exits.add { step in
      if let payload = payload(step.from) { action(payload, step) }
    }
  }

  /// Calls `action` before each step, until the returned registration is ended.
  @discardableResult
  public func before(_ action: @escaping (Step) -> Void) -> Registration { befores.add(action) }

  /// Calls `action` after each step, until the returned registration is ended.
  @discardableResult
  public func after(_ action: @escaping (Step) -> Void) -> Registration { afters.add(action) }

  /// Calls `action` before each step of one row, that of `state` and `event`, until the returned
  /// registration is ended. Both are judged by their names; the step has their payloads.
  @discardableResult
  public func before(
    _ state: R.State, on event: R.Event, _ action: @escaping (Step) -> Void
  ) -> Registration {
    befores.add(only(state, event, action))
  }

  /// Calls `action` after each step of one row, that of `state` and `event`, until the returned
  /// registration is ended. Both are judged by their names; the step has their payloads.
  @discardableResult
  public func after(
    _ state: R.State, on event: R.Event, _ action: @escaping (Step) -> Void
  ) -> Registration {
    afters.add(only(state, event, action))
  }

  private func only(
    _ state: R.State, _ event: R.Event, _ action: @escaping (Step) -> Void
  ) -> (Step) -> Void {
    let row = (rules.name(of: state), rules.name(ofEvent: event))
    return { [rules] step in
      if (rules.name(of: step.from), rules.name(ofEvent: step.event)) == row { action(step) }
    }
  }
}

// MARK: - Sequences

extension ObservedMachine {
  /// The present state, then each new value of ``state``, including those with another
  /// payload only. It ends with the machine: when a final state is reached, or when the
  /// machine is deallocated.
  ///
  /// A reader that is slow skips values, but never the last one, so what it shows is never out of
  /// date. Every use of this property begins another sequence, for one reader.
  public var states: AsyncStream<R.State> {
    stateReaders.add(keeping: .bufferingNewest(1), first: state, isOver: isFinal)
  }

  /// Each state that is left or entered from now on, in order. It ends with the machine, as
  /// ``states`` does. Every call begins another sequence, for one reader.
  ///
  /// - Parameter count: how many changes the sequence keeps for a slow reader, at least 1; beyond
  ///   that it drops the oldest, and tells how many. By default it keeps, and tells, all.
  public func changes(keepingNewest count: Int? = nil) -> Changes<R> {
    precondition(count.map { $0 > 0 } ?? true, "a sequence that keeps nothing would tell nothing")
    let stream = changeReaders.add(
      keeping: count.map { .bufferingNewest($0) } ?? .unbounded, isOver: isFinal)
    return Changes(stream: stream, next: changeCount)
  }
}
