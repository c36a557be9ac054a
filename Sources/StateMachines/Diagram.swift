/// The picture of a machine, computed from its transition function, so that it cannot be out of date.
///
/// An arrow is drawn wherever a sample of an event leads from one state to another; its condition is
/// shown only where samples of the same event do different things. The order of everything is that of
/// the rules, so the same rules always give the same text.
public struct Diagram: Hashable, Sendable {
  /// One event's transition from one state.
  public struct Arrow: Hashable, Sendable {
    /// The name of the state before the event.
    public let from: String
    /// The name of the state after the event; the same as `from` if only a payload changes.
    public let to: String
    /// The name of the event.
    public let event: String
    /// The condition on the event's payload; `nil` if the payload does not affect the transition.
    public let condition: String?

    /// The arrow of `event` from one state to another, under `condition`.
    public init(from: String, to: String, event: String, condition: String? = nil) {
      (self.from, self.to, self.event, self.condition) = (from, to, event, condition)
    }

    /// The event, and its condition in brackets: `shiftPressed [< 500 ms]`.
    public var label: String { condition.map { "\(event) [\($0)]" } ?? event }
  }

  /// The names of the states.
  public let states: [String]
  /// The name of the initial state.
  public let initial: String
  /// The arrows, in the order of the rules.
  public let arrows: [Arrow]
  /// The names of the states in which the machine is meant to end, in the order of ``states``.
  public let finalStates: [String]
  /// The name of the state to highlight, if any.
  public var current: String?

  /// The diagram of a machine that another program described.
  ///
  /// - Parameter finalStates: in any order; names that are not among `states` are ignored.
  public init(states: [String], initial: String, arrows: [Arrow], finalStates: [String] = []) {
    (self.states, self.initial, self.arrows) = (states, initial, arrows)
    self.finalStates = states.filter(finalStates.contains)
  }

  /// The diagram of a machine's rules, with its present state highlighted.
  public init<R: DrawableRules>(of machine: StateMachine<R>) {
    self.init(of: machine.rules, current: machine.rules.name(of: machine.state))
  }

  /// The diagram of `rules`, with the state of the name `current` highlighted, if there is one.
  public init<R: DrawableRules>(of rules: R, current: String? = nil) {
    states = rules.stateNames
    initial = rules.name(of: rules.initial)
    let final = Set(rules.finalStates.map(rules.name))
    finalStates = states.filter(final.contains)
    self.current = current
    var arrows: [Arrow] = []
    for state in rules.states {
      let steps = rules.samples.map { sample in
        (sample: sample, to: rules.next(state, on: sample.event).map(rules.name))
      }
      for (sample, to) in steps {
        guard let to else { continue }
        let condition = sample.condition.flatMap { condition in
          let decides = steps.contains { $0.sample.name == sample.name && $0.to != to }
          return decides ? condition : nil
        }
        arrows.append(
          Arrow(from: rules.name(of: state), to: to, event: sample.name, condition: condition))
      }
    }
    self.arrows = arrows.withoutRepetitions
  }

  /// The edges to draw: the arrows between the same two states share one edge with several labels.
  var edges: [(from: String, to: String, labels: [String])] {
    var edges: [(from: String, to: String, labels: [String])] = []
    for arrow in arrows {
      if let place = edges.firstIndex(where: { $0.from == arrow.from && $0.to == arrow.to }) {
        edges[place].labels.append(arrow.label)
      } else {
        edges.append((arrow.from, arrow.to, [arrow.label]))
      }
    }
    return edges
  }
}
