public import StateMachines

/// A state machine with observers.
///
/// It is not `Sendable`, and calls every callback in the isolation in which
/// ``send(_:result:action:)`` is called. To observe it from another isolation, use a stream of
/// ``changes(keepingNewest:)``.
///
/// For each event that changes the state, in this order:
///
/// 1. the observers' `willExit`, with the state that is left
/// 2. the `before` actions
/// 3. the sender's own action
/// 4. the state is assigned
/// 5. the `after` actions
/// 6. the observers' `didEnter`, with the state that is entered; then the streams
/// 7. the sender's result
///
/// An ignored event calls only the sender's result. A step between two states of the same name
/// changes a payload, not the state: no state is left or entered, so 1 and 6 do not happen.
///
/// A callback that the machine keeps must not retain the machine: capture the machine `weak` or
/// `unowned`.
///
/// An event sent during a step is queued until the step is over, so that every callback sees one
/// step at a time. An observer added during a step sees the next one.
public final class ObservedMachine<R: Rules> {
  /// One step of the machine.
  public struct Step: Sendable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State
    /// The event that caused the step.
    public let event: R.Event
  }

  /// The outcome of an event.
  public enum Outcome: Sendable {
    /// The event caused this step.
    case changed(Step)
    /// The state ignored the event.
    case ignored
  }

  /// The rules in force.
  public let rules: R

  /// The state that the machine is in.
  public private(set) var state: R.State

  private var observers = Registrations<
    (willExit: (R.State) -> Void, didEnter: (R.State) -> Void)
  >()
  private var beforeActions = Registrations<(Step) -> Void>()
  private var afterActions = Registrations<(Step) -> Void>()
  private var streams: [Int: AsyncStream<Step>.Continuation] = [:]
  private var streamCount = 0
  private var waiting: [() -> Void] = []
  private var isBusy = false

  /// A machine in the initial state of `rules`, without observers.
  public init(_ rules: R) {
    self.rules = rules
    state = rules.initial
  }

  deinit {
    for stream in streams.values { stream.finish() }
  }

  /// Whether `event` would change something now. Calls no observer.
  public func accepts(_ event: R.Event) -> Bool { rules.next(state, on: event) != nil }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - result: is called last, with the outcome of the event.
  ///   - action: is called with the step, if there is one, before the state is assigned.
  public func send(
    _ event: R.Event, result: @escaping (Outcome) -> Void = { _ in },
    action: @escaping (Step) -> Void = { _ in }
  ) {
    waiting.append { [unowned self] in perform(event, result, action) }
    guard !isBusy else { return }
    isBusy = true
    defer { isBusy = false }
    while !waiting.isEmpty { waiting.removeFirst()() }
  }

  private func perform(
    _ event: R.Event, _ result: (Outcome) -> Void, _ action: (Step) -> Void
  ) {
    guard let next = rules.next(state, on: event) else { return result(.ignored) }
    let step = Step(from: state, to: next, event: event)
    let isMove = rules.name(of: step.from) != rules.name(of: step.to)
    // Copies, because an observer added during the step would see only half of it.
    let (observers, beforeActions, afterActions) = (observers, beforeActions, afterActions)
    let streams = streams
    if isMove { observers.forEach { $0.willExit(step.from) } }
    beforeActions.forEach { $0(step) }
    action(step)
    state = step.to
    afterActions.forEach { $0(step) }
    if isMove {
      observers.forEach { $0.didEnter(step.to) }
      for (number, stream) in streams {
        if case .terminated = stream.yield(step) { self.streams[number] = nil }
      }
    }
    result(.changed(step))
  }
}

extension ObservedMachine where R: DrawableRules {
  /// The names of the states to which an event can lead from the present state; see
  /// ``StateMachine/nextStates``.
  public var nextStates: [String] { rules.nextStates(from: state) }
}

// MARK: - Watching

extension ObservedMachine {
  /// Calls `willExit` and `didEnter` for each state that is left and entered, until the returned
  /// registration is ended.
  @discardableResult
  public func observe(
    willExit: @escaping (R.State) -> Void = { _ in },
    didEnter: @escaping (R.State) -> Void = { _ in }
  ) -> Registration {
    observers.add((willExit, didEnter))
  }

  /// Calls `action` before each step, until the returned registration is ended.
  @discardableResult
  public func before(_ action: @escaping (Step) -> Void) -> Registration {
    beforeActions.add(action)
  }

  /// Calls `action` after each step, until the returned registration is ended.
  @discardableResult
  public func after(_ action: @escaping (Step) -> Void) -> Registration {
    afterActions.add(action)
  }

  /// The future steps from one state to another, until the machine is deallocated. There can be
  /// several streams at once, and each receives all steps.
  ///
  /// - Parameter count: how many steps the stream keeps for a slow reader, at least 1. Beyond that,
  ///   it drops the oldest.
  public func changes(keepingNewest count: Int) -> AsyncStream<Step> {
    precondition(count > 0, "a stream that keeps nothing would tell nothing")
    let (stream, continuation) = AsyncStream.makeStream(
      of: Step.self, bufferingPolicy: .bufferingNewest(count))
    streamCount += 1
    streams[streamCount] = continuation
    return stream
  }
}
