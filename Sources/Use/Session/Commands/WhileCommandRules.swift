import StateMachines

/// Rules for a command that runs while states last.
///
/// |              | entered      | left    | ended    | quit     |
/// | ------------ | ------------ | ------- | -------- | -------- |
/// | waiting      | running      | ignored | ignored  | finished |
/// | running      | ignored      | ending  | waiting  | quitting |
/// | ending       | ending again | ignored | waiting  | quitting |
/// | ending again | ignored      | ending  | running  | quitting |
/// | quitting     | ignored      | ignored | finished | ignored  |
/// | finished     | ignored      | ignored | ignored  | ignored  |
///
/// With ``runsOnce``, `ended` leads to `finished` from `running` and `ending`, and `ending` ignores
/// `entered`.
///
/// A run is never started before the last run has ended. States that were entered and left in the
/// meantime are forgotten. A command that ends by itself is started again when the states are
/// entered again, not before.
struct WhileCommandRules: Rules {
  /// What the command does, and what it shall do next.
  enum State: Hashable, Sendable {
    /// The command does not run.
    case waiting
    /// The command was started.
    case running
    /// The command was told to end, and starts `again` if the states have been entered meanwhile.
    case ending(again: Bool)
    /// The command was told to end, and this program ends after it.
    case quitting
    /// This program ends.
    case finished
  }

  /// What happens to the command and the states.
  enum Event: CaseIterable, Sendable {
    /// The states have been entered.
    case entered
    /// The states have been left, or are not known any more.
    case left
    /// The command has ended, or could not be started.
    case ended
    /// This program shall end.
    case quit
  }

  /// The action that a transition requires.
  enum Action: Hashable, Sendable {
    /// Start the command.
    case start
    /// Tell the command to end.
    case end
    /// End this program.
    case finish
  }

  /// Whether the command runs a single time.
  let runsOnce: Bool

  var initial: State { .waiting }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.waiting, .entered): .running
    case (.waiting, .quit): .finished
    case (.waiting, .left), (.waiting, .ended): nil

    case (.running, .left): .ending(again: false)
    case (.running, .ended): runsOnce ? .finished : .waiting
    case (.running, .quit): .quitting
    case (.running, .entered): nil  // the states were entered before

    case (.ending(again: false), .entered): runsOnce ? nil : .ending(again: true)
    case (.ending(again: true), .left): .ending(again: false)
    case (.ending(let again), .ended): runsOnce ? .finished : again ? .running : .waiting
    case (.ending, .quit): .quitting
    case (.ending(again: true), .entered), (.ending(again: false), .left): nil

    case (.quitting, .ended): .finished
    case (.quitting, .entered), (.quitting, .left): nil
    case (.quitting, .quit): nil  // the first reason is the one to report

    case (.finished, _): nil
    }
  }

  func action(from: State, to: State) -> Action? {
    switch (from, to) {
    case (.waiting, .running), (.ending, .running): .start
    case (.running, .ending), (_, .quitting): .end
    case (_, .finished): .finish
    case (.waiting, _), (.running, _), (.ending, _), (.quitting, _), (.finished, _): nil
    }
  }
}
