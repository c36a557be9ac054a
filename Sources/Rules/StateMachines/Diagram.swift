/// The picture of a machine, computed from its transition function, so that it cannot be out
/// of date.
///
/// Each event that a state does not ignore has an arrow. The arrow shows a condition only if the
/// condition decides: if states of one name, or samples of one event, differ in the next state.
/// States and events have the order of `states` and `samples` in the rules, so the same rules
/// always give the same text.
public struct Diagram: Hashable, Sendable {
  /// One event's transition from one state.
  public struct Arrow: Hashable, Sendable {
    /// The name of the state before the event.
    public let from: String
    /// The name of the state after the event; the same as `from` if only a payload changes.
    public let to: String
    /// The name of the event.
    public let event: String
    /// The condition on the payloads of the state and of the event, and the delay of a timeout;
    /// `nil` if neither matters.
    public let condition: String?
    /// Whether an arrow from a state to itself leaves the state and enters it again.
    public let reenters: Bool

    /// The arrow of `event` from one state to another, under `condition`.
    public init(
      from: String, to: String, event: String, condition: String? = nil, reenters: Bool = false
    ) {
      (self.from, self.to, self.event) = (from, to, event)
      (self.condition, self.reenters) = (condition, reenters)
    }

    /// The event, the condition in brackets, and whether the arrow re-enters its state, such as
    /// `shiftPressed [< 500 ms]`.
    public var label: String {
      event + (condition.map { " [\($0)]" } ?? "") + (reenters ? " (re-enters)" : "")
    }
  }

  /// The names of the states.
  public let states: [String]
  /// The name of the initial state.
  public let initial: String
  /// The arrows, in the order of the ``states`` that they leave.
  public let arrows: [Arrow]
  /// The names of the states in which the machine is meant to end, in the order of ``states``.
  public let finalStates: [String]
  /// The names of the states in which the machine accepts, in the order of ``states``.
  public let acceptingStates: [String]
  /// The name of the state to highlight, if any.
  public var current: String?

  /// The color of the state ``current`` in all languages. Text on it is black.
  public static let currentColor = "#ffd75f"

  /// The diagram of a machine that another program described.
  ///
  /// - Parameters:
  ///   - finalStates: in any order; names that are not among `states` are ignored.
  ///   - acceptingStates: in any order; names that are not among `states` are ignored.
  public init(
    states: [String], initial: String, arrows: [Arrow], finalStates: [String] = [],
    acceptingStates: [String] = []
  ) {
    (self.states, self.initial, self.arrows) = (states, initial, arrows)
    self.finalStates = states.filter(finalStates.contains)
    self.acceptingStates = states.filter(acceptingStates.contains)
  }

  /// The diagram of a machine's rules, with its present state highlighted.
  public init<R: DrawableRules>(of machine: some RunningMachine<R>) {
    self.init(of: machine.rules, current: machine.stateName)
  }

  /// The diagram of `rules`. If a state has the name `current`, the diagram highlights the state.
  public init<R: DrawableRules>(of rules: R, current: String? = nil) {
    self.init(
      states: rules.stateNames, initial: rules.name(of: rules.initial),
      arrows: rules.stateNames.flatMap(rules.arrows(fromStatesNamed:)),
      finalStates: rules.finalStates.map(rules.name),
      acceptingStates: rules.acceptingStates.map(rules.name))
    self.current = current
  }

  /// The edges to draw: the arrows between the same two states share one edge with several labels.
  var edges: [(from: String, to: String, labels: [String])] {
    var edges: [(from: String, to: String, labels: [String])] = []
    for arrow in arrows {
      if let index = edges.firstIndex(where: { $0.from == arrow.from && $0.to == arrow.to }) {
        edges[index].labels.append(arrow.label)
      } else {
        edges.append((arrow.from, arrow.to, [arrow.label]))
      }
    }
    return edges
  }
}

extension DrawableRules {
  /// The arrows that leave the states of this name.
  func arrows(fromStatesNamed name: String) -> [Diagram.Arrow] {
    let states = states.filter { self.name(of: $0) == name }
    let samples = samples.map { (name: self.name(ofEvent: $0.event), sample: $0) }
    // The names of the next states: a row for each state, a column for each sample.
    let targets = states.map { state in
      samples.map { next(state, on: $0.sample.event).map(self.name(of:)) }
    }
    var arrows: [Diagram.Arrow] = []
    for (state, row) in zip(states, targets) {
      for (column, (event, sample)) in samples.enumerated() {
        guard let to = row[column] else { continue }
        var conditions: [String] = []
        if let condition = condition(of: state), targets.contains(where: { $0[column] != to }) {
          conditions.append(condition)
        }
        if let condition = sample.condition,
          zip(samples, row).contains(where: { $0.name == event && $1 != to })
        {
          conditions.append(condition)
        }
        if let delay = delay(of: sample.event, in: state) {
          conditions.append("after \(delay.text)")
        }
        arrows.append(
          Diagram.Arrow(
            from: name, to: to, event: event,
            condition: conditions.isEmpty ? nil : conditions.joined(separator: ", "),
            reenters: to == name && reenters(state, on: sample.event)))
      }
    }
    return arrows.withoutRepetitions
  }
}

extension Duration {
  /// The units in microseconds, the largest first.
  private static let units: [(size: Int64, name: String)] = [
    (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"), (1000, "ms"),
  ]

  /// The duration as a whole number of the largest possible unit, such as `500 ms`.
  public var text: String {
    let (seconds, attoseconds) = components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let unit =
      Self.units.first { microseconds >= $0.size && microseconds.isMultiple(of: $0.size) }
      ?? (1, "µs")
    return "\(microseconds / unit.size) \(unit.name)"
  }
}
