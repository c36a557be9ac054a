public import StateMachines

extension DrawableRules {
  /// The faults that random sequences of samples find: steps that the diagram does not have,
  /// because a sample, a state or a condition is missing.
  ///
  /// - Parameters:
  ///   - walks: how many sequences to send, each to a new machine.
  ///   - events: how many events each sequence has.
  ///   - generator: the source of randomness; an equal generator finds the same faults.
  /// - Returns: the shortest walk to each undrawn step. Steps between the same two states by the
  ///   same event count as one step.
  public func faults(
    ofRandomWalks walks: Int = 100, events: Int = 50,
    using generator: inout some RandomNumberGenerator
  ) -> [RulesFault] {
    let arrows = DrawnArrows(of: self)
    var found: [UndrawnStep] = []
    for _ in 0..<walks {
      guard let step = undrawnStep(events, arrows, &generator) else { continue }
      let index = found.firstIndex {
        ($0.from, $0.to, $0.events.last) == (step.from, step.to, step.events.last)
      }
      if let index {
        if step.events.count < found[index].events.count { found[index] = step }
      } else {
        found.append(step)
      }
    }
    return found.map { .undrawnStep(from: $0.from, to: $0.to, afterEvents: $0.events) }
  }

  /// A step that the diagram does not have, at the end of a walk; `events` are the events of the
  /// walk that were not ignored.
  private typealias UndrawnStep = (from: String, to: String, events: [String])

  private func undrawnStep(
    _ events: Int, _ arrows: DrawnArrows<Self>, _ generator: inout some RandomNumberGenerator
  ) -> UndrawnStep? {
    var state = initial
    var taken: [String] = []
    for _ in 0..<events {
      guard let sample = samples.randomElement(using: &generator) else { return nil }
      guard let next = next(state, on: sample.event) else { continue }
      taken.append(name(ofEvent: sample.event))
      if arrows.arrow(from: state, to: next, on: sample) == nil {
        return (name(of: state), name(of: next), taken)
      }
      state = next
    }
    return nil
  }
}

/// The arrows of a diagram, and which of them a step takes.
struct DrawnArrows<R: DrawableRules> {
  let rules: R
  let arrows: [Diagram.Arrow]

  init(of rules: R) {
    self.rules = rules
    arrows = Diagram(of: rules).arrows
  }

  /// The arrow that this step takes, if there is one.
  func arrow(from: R.State, to: R.State, on sample: Sample<R.Event>) -> Diagram.Arrow? {
    let names = (rules.name(of: from), rules.name(of: to), rules.name(ofEvent: sample.event))
    let conditions = [rules.condition(of: from), sample.condition].compactMap { $0 }
    let delay = rules.delay(of: sample.event, in: from).map { ["after \($0.text)"] } ?? []
    // The diagram omits conditions that do not decide the next state, but shows every delay.
    let drawn = ([[]] + conditions.map { [$0] } + [conditions]).map { $0 + delay }
    let possible = drawn.map { $0.isEmpty ? nil : $0.joined(separator: ", ") }
    return arrows.first {
      ($0.from, $0.to, $0.event) == names && possible.contains($0.condition)
        && $0.reenters == (names.0 == names.1 && rules.reenters(from, on: sample.event))
    }
  }
}
