import Glibc
public import StateMachines

/// Rules for a command that runs while states last.
///
/// |              | entered      | left    | ended(o)    | quit(r)     |
/// | ------------ | ------------ | ------- | ----------- | ----------- |
/// | waiting      | running      | ignored | ignored     | finished(r) |
/// | running      | ignored      | ending  | waiting     | quitting(r) |
/// | ending       | ending again | ignored | waiting     | quitting(r) |
/// | ending again | ignored      | ending  | running     | quitting(r) |
/// | quitting(r)  | ignored      | ignored | finished(r) | ignored     |
/// | finished(r)  | ignored      | ignored | ignored     | ignored     |
///
/// With ``isOnce``, `ended(o)` leads to `finished(command(o))` from `running` and `ending`, and
/// `ending` ignores `entered`.
///
/// A command is never started before the last one has ended. What was entered and left in the
/// meantime is forgotten. A command that ends by itself is started again when the states are
/// entered again, not before.
public struct CommandRules: Rules {
  /// What the command does, and what it shall do next.
  public enum State: Hashable, Sendable {
    /// The command does not run.
    case waiting
    /// It was started.
    case running
    /// It was told to end, and starts `again` if the states have been entered meanwhile.
    case ending(again: Bool)
    /// It was told to end, and this program ends after it.
    case quitting(Result)
    /// This program ends.
    case finished(Result)
  }

  /// What happens to the command and the states.
  public enum Event: Hashable, Sendable {
    /// The states have been entered.
    case entered
    /// The states have been left, or are not known any more.
    case left
    /// The command has ended, or could not be started.
    case ended(CommandOutcome)
    /// This program shall end.
    case quit(Result)
  }

  /// How this program ends.
  public enum Result: Hashable, Sendable {
    /// As the command that ran once.
    case command(CommandOutcome)
    /// By this signal, which it received.
    case signal(Int32)
    /// With an error.
    case error
  }

  /// What has to be done after a transition.
  public enum Action: Hashable, Sendable {
    /// Start the command.
    case start
    /// End the command, by this signal first.
    case end(Int32)
    /// End this program.
    case finish(Result)
  }

  /// Whether the command runs a single time.
  public let isOnce: Bool

  /// Rules for a command that runs each time, or once.
  public init(isOnce: Bool) { self.isOnce = isOnce }

  /// `waiting`.
  public var initial: State { .waiting }

  /// The table above.
  public func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.waiting, .entered): .running
    case (.waiting, .quit(let result)): .finished(result)
    case (.waiting, .left), (.waiting, .ended): nil

    case (.running, .left): .ending(again: false)
    case (.running, .ended(let outcome)): isOnce ? .finished(.command(outcome)) : .waiting
    case (.running, .quit(let result)): .quitting(result)
    case (.running, .entered): nil  // the states were entered before

    case (.ending(again: false), .entered): isOnce ? nil : .ending(again: true)
    case (.ending(again: true), .left): .ending(again: false)
    case (.ending(let again), .ended(let outcome)):
      isOnce ? .finished(.command(outcome)) : again ? .running : .waiting
    case (.ending, .quit(let result)): .quitting(result)
    case (.ending(again: true), .entered), (.ending(again: false), .left): nil

    case (.quitting(let result), .ended): .finished(result)
    case (.quitting, .entered), (.quitting, .left): nil
    case (.quitting, .quit): nil  // the first reason is the one to report

    case (.finished, _): nil
    }
  }

  /// What has to be done after this transition.
  public func action(from: State, to: State) -> Action? {
    switch (from, to) {
    case (.waiting, .running), (.ending, .running): .start
    case (.running, .ending): .end(SIGTERM)
    case (.running, .quitting(let result)), (.ending, .quitting(let result)): .end(result.signal)
    case (_, .finished(let result)): .finish(result)
    case (.waiting, _), (.running, _), (.ending, _), (.quitting, _), (.finished, _): nil
    }
  }
}

extension CommandRules.Result {
  /// The signal by which a command is ended for this reason.
  fileprivate var signal: Int32 {
    switch self {
    case .signal(let number): number
    case .command, .error: SIGTERM
    }
  }
}
