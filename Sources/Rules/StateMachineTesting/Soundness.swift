public import StateMachines

/// Something wrong with the rules of a machine, or with its lists of states and samples,
/// which are the source of its diagram.
public enum RulesFault: Hashable, Sendable, CustomStringConvertible {
  /// The state is initial, final, accepting or the target of an event, but not in `states`.
  case unlistedState(String)
  /// No sequence of events leads to the state.
  case unreachableState(String)
  /// No event leaves the state, which is not final.
  case deadState(String)
  /// An event leaves the state, which is final.
  case leftFinalState(String)
  /// Another arrow with this origin and label has another target, so a condition is missing.
  case ambiguousArrow(Diagram.Arrow)
  /// These events, handled by a new machine, end with a step that the diagram does not have.
  case undrawnStep(from: String, to: String, afterEvents: [String])
  /// No sequence of the listed samples takes the arrow.
  case untakenArrow(Diagram.Arrow)

  /// What is wrong, and what mends it.
  public var description: String {
    switch self {
    case .unlistedState(let state): "the state '\(state)' is missing in 'states'"
    case .unreachableState(let state): "no sequence of events leads to the state '\(state)'"
    case .deadState(let state):
      "no event leaves the state '\(state)'; if that is meant, list it in 'finalStates'"
    case .leftFinalState(let state): "an event leaves the state '\(state)', which is final"
    case .ambiguousArrow(let arrow):
      "\(arrow.text) is not the only arrow with this origin and label; give their samples or states "
        + "conditions that differ"
    case .undrawnStep(let from, let to, let events):
      "the diagram has no arrow for the last step, from '\(from)' to '\(to)', of the events "
        + "\(events.joined(separator: ", ")); is a sample or a state missing?"
    case .untakenArrow(let arrow): "no sequence of the listed samples takes \(arrow.text)"
    }
  }
}

extension DrawableRules {
  /// The faults that the diagram of these rules shows: all but undrawn steps and untaken arrows.
  /// Empty for sound rules.
  public var soundnessFaults: [RulesFault] {
    let diagram = Diagram(of: self)
    let (arrows, listed) = (diagram.arrows, Set(diagram.states))
    let named =
      [name(of: initial)] + (finalStates + acceptingStates).map(name) + arrows.map(\.to)
    var unlisted: [String] = []
    for state in named where !listed.contains(state) && !unlisted.contains(state) {
      unlisted.append(state)
    }
    let left = Set(arrows.filter { $0.from != $0.to }.map(\.from))
    // δ is a function: if one origin and label have two targets, a condition is missing.
    let ambiguous = arrows.filter { arrow in
      arrows.contains { $0.from == arrow.from && $0.label == arrow.label && $0.to != arrow.to }
    }
    return unlisted.map(RulesFault.unlistedState)
      + unreachableStates.map(RulesFault.unreachableState)
      + diagram.states.filter { !left.contains($0) && !diagram.finalStates.contains($0) }
      .map(RulesFault.deadState)
      + diagram.finalStates.filter(left.contains).map(RulesFault.leftFinalState)
      + ambiguous.map(RulesFault.ambiguousArrow)
  }
}

extension Diagram.Arrow {
  fileprivate var text: String { "'\(from)' –\(label)→ '\(to)'" }
}
