public import StateMachines

/// The rules of a Mealy machine: a transition may have an output, a value that says what has to be
/// done. The code that does it is not part of the rules, which are tested without it.
public protocol MealyRules<State, Event, Output>: Rules {
  /// What has to be done, such as `download`.
  associatedtype Output

  /// The output of the transition of `event` in `state`; `nil` if there is none. This is not called
  /// for an event that the state ignores.
  func output(_ state: State, on event: Event) -> Output?
}

extension ObservedMachine where R: MealyRules {
  /// Calls `action` after each step that has an output, with the output and the step.
  @discardableResult
  public func performing(_ action: @escaping (R.Output, Step) -> Void) -> Registration {
    after { [rules] step in
      if let output = step.event.flatMap({ rules.output(step.from, on: $0) }) {
        action(output, step)
      }
    }
  }
}
