public import StateMachines

/// A shortest sequence of events that takes one arrow of a machine's diagram. The paths of all
/// arrows together make the machine do everything that it can do.
public struct Path<R: DrawableRules> {
  /// One step of the path.
  public struct Step {
    /// The state before the event.
    public let from: R.State
    /// The event.
    public let event: R.Event
    /// The state after the event.
    public let to: R.State
  }

  /// The arrow, which the last step takes.
  public let arrow: Diagram.Arrow
  /// The steps, from the initial state.
  public let steps: [Step]

  /// The events to send to a new machine.
  public var events: [R.Event] { steps.map(\.event) }
}

extension Path: Sendable where R.State: Sendable, R.Event: Sendable {}
extension Path.Step: Sendable where R.State: Sendable, R.Event: Sendable {}

extension DrawableRules {
  /// A shortest path for each arrow of the diagram, in the diagram's order, and a fault for each
  /// arrow that no sequence of the samples takes.
  ///
  /// - Parameter limit: how many different states to visit at most. States differ if their
  ///   descriptions differ; only machines with many payloads have 10,000 states.
  public func shortestPaths(
    visiting limit: Int = 10_000
  ) -> (paths: [Path<Self>], faults: [RulesFault]) {
    let drawn = DrawnArrows(of: self)
    var found: [Diagram.Arrow: Path<Self>] = [:]
    var seen: Set = [String(describing: initial)]
    // States in the order of their distance from the initial state, each with a shortest way to it.
    var queue: [(state: State, steps: [Path<Self>.Step])] = [(initial, [])]
    var index = 0
    while index < queue.count, found.count < drawn.arrows.count {
      let (state, steps) = queue[index]
      index += 1
      for sample in samples {
        guard let next = next(state, on: sample.event) else { continue }
        let steps = steps + [.init(from: state, event: sample.event, to: next)]
        if let arrow = drawn.arrow(from: state, to: next, on: sample), found[arrow] == nil {
          found[arrow] = Path(arrow: arrow, steps: steps)
        }
        if seen.count < limit, seen.insert(String(describing: next)).inserted {
          queue.append((next, steps))
        }
      }
    }
    return (
      drawn.arrows.compactMap { found[$0] },
      drawn.arrows.filter { found[$0] == nil }.map(RulesFault.untakenArrow)
    )
  }
}
