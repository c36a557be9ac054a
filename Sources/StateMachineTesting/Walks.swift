public import StateMachines

extension DrawableRules {
  /// The faults that random sequences of samples find: steps that the diagram does not have, because
  /// a sample, a state or a condition is missing.
  ///
  /// - Parameters:
  ///   - walks: how many sequences to send, each to a new machine.
  ///   - events: how many events each sequence has.
  ///   - generator: where chance comes from; the same generator finds the same faults.
  /// - Returns: the first fault of each walk, without repetitions.
  public func faults(
    ofRandomWalks walks: Int = 100, events: Int = 50,
    using generator: inout some RandomNumberGenerator
  ) -> [RulesFault] {
    let arrows = DrawnArrows(of: self)
    var faults: [RulesFault] = []
    for _ in 0..<walks {
      guard let fault = faultOfRandomWalk(events, arrows, &generator), !faults.contains(fault)
      else { continue }
      faults.append(fault)
    }
    return faults
  }

  private func faultOfRandomWalk(
    _ events: Int, _ arrows: DrawnArrows<Self>, _ generator: inout some RandomNumberGenerator
  ) -> RulesFault? {
    var state = initial
    var sent: [String] = []
    for _ in 0..<events {
      guard let sample = samples.randomElement(using: &generator) else { return nil }
      sent.append(name(ofEvent: sample.event))
      guard let next = next(state, on: sample.event) else { continue }
      if arrows.arrow(from: state, to: next, on: sample) == nil {
        return .undrawnStep(from: name(of: state), to: name(of: next), afterEvents: sent)
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
    // The diagram omits each condition that does not decide.
    let possible = [nil] + conditions + [conditions.joined(separator: ", ")]
    return arrows.first {
      ($0.from, $0.to, $0.event) == names && possible.contains($0.condition)
    }
  }
}
