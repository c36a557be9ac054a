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
  /// What is wrong with the callbacks that are registered now. Empty if each callback can be called
  /// and no callback misses a step that was probably meant for it.
  public var hookFaults: [HookFault] {
    let arrows = Diagram(of: rules).arrows
    let start = Diagram.Arrow(from: "", to: rules.name(of: rules.initial), event: "")
    let lists = [
      ("leaving", hooks.exits, arrows, \Diagram.Arrow.from),
      ("entering", hooks.entries, [start] + arrows, \.to),
    ]
    let idle = lists.flatMap { verb, hooks, arrows, state in
      hooks.filter { hook in
        hook.action != nil
          && !arrows.contains {
            names(of: hook).fits($0) && concerns(hook, $0[keyPath: state])
              && ($0.from != $0.to || $0.reenters)
          }
      }.map {
        HookFault.neverCalled("\(verb)(\(names(of: $0).from ?? names(of: $0).to ?? "a payload"))")
      }
    }
    // Callbacks for every state are not checked: they do general work, such as writing a log.
    let stateHooks = (hooks.exits + hooks.entries).filter {
      $0.action != nil && ($0.from ?? $0.to != nil || $0.condition != nil)
    }
    let unnoticed = arrows.filter { arrow in
      arrow.from == arrow.to && !arrow.reenters
        && stateHooks.contains { names(of: $0).fits(arrow) && concerns($0, arrow.to) }
        && !(hooks.befores + hooks.afters).contains {
          $0.action != nil && names(of: $0).fits(arrow)
        }
    }
    return idle + unnoticed.map(HookFault.unnoticedStep)
  }

  /// Whether the callback has something to do in a state of this name.
  private func concerns(_ hook: Hook<R>, _ name: String) -> Bool {
    guard let condition = hook.condition else { return true }
    return rules.states.contains { rules.name(of: $0) == name && condition($0) }
  }
}
