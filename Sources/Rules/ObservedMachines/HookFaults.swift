public import StateMachines

/// Something wrong with the callbacks of a machine, judged by the samples of its rules.
public enum HookFault: Hashable, Sendable, CustomStringConvertible {
  /// No step calls this callback.
  case neverCalled(String)
  /// The step only changes the payload of a state. Callbacks are registered for entering or leaving
  /// that state, but none is called for this step.
  case unnoticedStep(Diagram.Arrow)

  /// What is wrong, and what mends it.
  public var description: String {
    switch self {
    case .neverCalled(let callback): "nothing calls \(callback)"
    case .unnoticedStep(let arrow):
      "\(arrow.event) changes only the payload of '\(arrow.from)', so it is not entered again; if "
        + "it should be, say so in 'reenters', otherwise use 'after'"
    }
  }
}

extension ObservedMachine where R: DrawableRules {
  /// What is wrong with the callbacks that are registered now. Empty if each can be called, and if
  /// none misses a step that is probably meant for it.
  public var hookFaults: [HookFault] {
    let arrows = Diagram(of: rules).arrows
    let start = Diagram.Arrow(from: "", to: rules.name(of: rules.initial), event: "")
    let lists = [
      ("leaving", hooks.exits, arrows, isLeft: true),
      ("before", hooks.befores, arrows, isLeft: true),
      ("after", hooks.afters, arrows, isLeft: true),
      ("entering", hooks.entries, [start] + arrows, isLeft: false),
    ]
    let idle = lists.flatMap { verb, hooks, arrows, isLeft in
      hooks.filter { hook in
        hook.action != nil && !arrows.contains { calls(hook, $0, isLeft: isLeft) }
      }.map { HookFault.neverCalled("\(verb)(\(words($0)))") }
    }
    // Callbacks for every state are for what is common to all of them, such as a log.
    let ofStates = (hooks.exits + hooks.entries).filter { $0.state != nil || $0.condition != nil }
    let unnoticed = arrows.filter { arrow in
      arrow.from == arrow.to && !arrow.reenters
        && ofStates.contains { $0.action != nil && isOf($0, arrow.to) }
        && !(hooks.befores + hooks.afters).contains {
          $0.action != nil && calls($0, arrow, isLeft: true)
        }
    }
    return idle + unnoticed.map(HookFault.unnoticedStep)
  }

  private func words(_ hook: Hook<R>) -> String {
    hook.condition != nil
      ? "a payload"
      : [hook.state, hook.event.map { "on: \($0)" }].compactMap { $0 }.joined(separator: ", ")
  }

  private func calls(_ hook: Hook<R>, _ arrow: Diagram.Arrow, isLeft: Bool) -> Bool {
    isOf(hook, isLeft ? arrow.from : arrow.to) && (hook.event ?? arrow.event) == arrow.event
      && (!hook.isOfMoves || arrow.from != arrow.to || arrow.reenters)
  }

  /// Whether the callback is for a state of this name.
  private func isOf(_ hook: Hook<R>, _ name: String) -> Bool {
    guard let condition = hook.condition else { return (hook.state ?? name) == name }
    return rules.states.contains { rules.name(of: $0) == name && condition($0) }
  }
}
