import StateMachines

/// The progress of a run: of its first process, and of all that it has started.
///
/// |         | started | endOrdered(t)          | firstEnded(t)          | deadlineCame | allEnded |
/// | ------- | ------- | ---------------------- | ---------------------- | ------------ | -------- |
/// | idle    | running | ignored                | ignored                | ignored      | ignored  |
/// | running | ignored | ending until t + grace | ending until t + grace | ignored      | ignored  |
/// | ending  | ignored | ignored                | ignored                | killing      | idle     |
/// | killing | ignored | ignored                | ignored                | ignored      | idle     |
///
/// A command has ended when its first process has. What it leaves behind gets the same grace as the
/// first process after an order. The deadline stays as it is whatever comes later, so nothing can
/// put it off.
struct RunRules: Rules {
  enum State: Hashable, Sendable {
    /// There is no command, and nothing of an earlier one.
    case idle
    /// The first process runs.
    case running
    /// The process group has been asked to end; all processes, once the first has ended. Those that
    /// are left at this time, in microseconds of the boot clock, are killed.
    case ending(deadline: Int64)
    /// The deadline has passed: all processes have been killed.
    case killing
  }

  enum Event: Hashable, Sendable {
    /// The first process was started.
    case started
    /// The command is to end.
    case endOrdered(at: Int64)
    /// The first process has ended.
    case firstEnded(at: Int64)
    /// The deadline has passed.
    case deadlineCame
    /// The first process has ended, and nothing that it started is left.
    case allEnded
  }

  /// The microseconds from asking to killing.
  let grace: Int64

  var initial: State { .idle }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.idle, .started): .running
    // An order that crossed the command's end.
    case (.idle, .endOrdered): nil
    case (.idle, .firstEnded), (.idle, .deadlineCame), (.idle, .allEnded): nil

    case (.running, .endOrdered(let time)), (.running, .firstEnded(let time)):
      .ending(deadline: after(time))
    // The end of the first process comes before that of all.
    case (.running, .allEnded): nil
    case (.running, .started), (.running, .deadlineCame): nil

    case (.ending, .deadlineCame): .killing
    case (.ending, .allEnded), (.killing, .allEnded): .idle
    case (.ending, .firstEnded), (.killing, .firstEnded): nil
    case (.ending, .started), (.ending, .endOrdered): nil
    case (.killing, .started), (.killing, .endOrdered), (.killing, .deadlineCame): nil
    }
  }

  private func after(_ time: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(grace)
    return overflow ? .max : sum
  }
}
