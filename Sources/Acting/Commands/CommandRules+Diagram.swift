import KeyboardModes
public import StateMachines

extension CommandRules {
  /// One state of each name, and `ending` with and without a next start.
  public var states: [State] {
    [
      .waiting, .running(.sample), .ending(next: nil), .ending(next: .sample), .quitting(.error),
      .finished(.error),
    ]
  }

  /// One event of each name.
  public var samples: [Sample<Event>] {
    [
      Sample(.entered(.sample)), Sample(.left), Sample(.ended(.exited(0))), Sample(.quit(.error)),
    ]
  }

  /// Whether the command starts again.
  public func condition(of state: State) -> String? {
    switch state {
    case .ending(let next): next == nil ? "left" : "entered again"
    case .waiting, .running, .quitting, .finished: nil
    }
  }
}

extension Entering {
  fileprivate static var sample: Entering {
    Entering(
      Modes(sequence: 0, shift: "", shiftSince: nil, keyboard: "", keyboardSince: nil), by: nil,
      else: .keyboard)
  }
}
