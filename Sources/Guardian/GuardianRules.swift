import StateMachines

/// How far a guardian is with its command: the first process, and all that descends from it.
///
/// |         | started | endOrdered(t)  | firstEnded(s, t)    | deadlineCame | allEnded | lost(t)         |
/// | ------- | ------- | -------------- | ------------------- | ------------ | -------- | --------------- |
/// | idle    | running | ignored        | ignored             | ignored      | ignored  | gone            |
/// | running | ignored | ending until t + grace | ending until t + grace | ignored | ignored | ending until t + grace, then gone |
/// | ending  | ignored | ignored        | ending, with status | killing      | idle     | ending, then gone |
/// | killing | ignored | ignored        | killing, with status | ignored     | idle     | killing, then gone |
/// | gone    | ignored | ignored        | ignored             | ignored      | ignored  | ignored         |
///
/// A command has ended when its first process has. What that left behind has as long to end as the
/// first process has after an order. The deadline stays as it is whatever comes later, so nothing
/// can put it off.
struct GuardianRules: DrawableRules {
  enum State: Hashable, Sendable {
    /// There is no command, and no descendant of an earlier one.
    case idle
    /// The first process runs.
    case running
    /// All processes have been asked to end.
    case ending(Ending)
    /// The deadline has passed: all processes are killed, until none is left.
    case killing(Ending)
    /// The guardian has nothing more to do.
    case gone
  }

  struct Ending: Hashable, Sendable {
    /// The status of the first process, as `waitpid` returns it; `nil` while it runs.
    var status: Int32?
    /// When the processes that are left are killed, in microseconds of the monotonic time.
    var deadline: Int64
    /// Whether the guardian goes afterwards.
    var isLast = false
  }

  enum Event: Hashable, Sendable {
    /// The first process was started.
    case started
    /// The command is to end.
    case endOrdered(at: Int64)
    /// The first process has ended.
    case firstEnded(Int32, at: Int64)
    /// The deadline of ``Ending`` has passed.
    case deadlineCame
    /// No descendant is left.
    case allEnded
    /// The client has gone: no order will come any more.
    case lost(at: Int64)
  }

  /// The microseconds from asking to killing.
  let grace: Int64

  var initial: State { .idle }
  var finalStates: [State] { [.gone] }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.idle, .started): .running
    case (.idle, .lost): .gone
    // An order that crossed the report of the command's end.
    case (.idle, .endOrdered): nil
    case (.idle, .firstEnded), (.idle, .deadlineCame), (.idle, .allEnded): nil

    case (.running, .endOrdered(let time)): .ending(Ending(deadline: after(time)))
    case (.running, .firstEnded(let status, let time)):
      .ending(Ending(status: status, deadline: after(time)))
    case (.running, .lost(let time)): .ending(Ending(deadline: after(time), isLast: true))
    // The first process is one of all: its end comes before.
    case (.running, .allEnded): nil
    case (.running, .started), (.running, .deadlineCame): nil

    case (.ending(let ending), .deadlineCame): .killing(ending)
    case (.ending(let ending), .firstEnded(let status, _)): .ending(ending.with(status))
    case (.killing(let ending), .firstEnded(let status, _)): .killing(ending.with(status))
    case (.ending(let ending), .lost): .ending(ending.asLast)
    case (.killing(let ending), .lost): .killing(ending.asLast)
    case (.ending(let ending), .allEnded), (.killing(let ending), .allEnded):
      ending.isLast ? .gone : .idle
    case (.ending, .started), (.ending, .endOrdered): nil
    case (.killing, .started), (.killing, .endOrdered), (.killing, .deadlineCame): nil

    case (.gone, _): nil
    }
  }

  private func after(_ time: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(grace)
    return overflow ? .max : sum
  }
}

extension GuardianRules.Ending {
  fileprivate func with(_ status: Int32) -> Self {
    var other = self
    other.status = status
    return other
  }

  fileprivate var asLast: Self {
    var other = self
    other.isLast = true
    return other
  }
}

extension GuardianRules {
  var states: [State] {
    let ending = Ending(deadline: 0)
    return [
      .idle, .running, .ending(ending), .ending(ending.asLast), .killing(ending),
      .killing(ending.asLast), .gone,
    ]
  }

  var samples: [Sample<Event>] {
    [
      Sample(.started), Sample(.endOrdered(at: 0)), Sample(.firstEnded(0, at: 0)),
      Sample(.deadlineCame), Sample(.allEnded), Sample(.lost(at: 0)),
    ]
  }

  func condition(of state: State) -> String? {
    switch state {
    case .ending(let ending), .killing(let ending): ending.isLast ? "lost" : nil
    case .idle, .running, .gone: nil
    }
  }
}
