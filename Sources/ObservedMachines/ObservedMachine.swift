public import StateMachines

/// A state machine that others can watch.
///
/// It belongs to one isolation: it is not `Sendable`, and everything is called where ``send(_:)`` is.
/// To watch it from elsewhere, take a stream of ``changes(keepingNewest:)``.
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
/// Of an ignored event only the sender's result tells. A step between two states of one name changes
/// a payload, not the state: nothing is left or entered, and all but 1 and 6 happens.
///
/// A callback that is kept by the machine must not keep the machine: capture it `weak` or `unowned`.
///
/// An event that is sent in the middle of all that waits until it is over, behind those that wait
/// already, so that every callback sees one step at a time. Who begins to watch in the middle of a step sees the next one.
public final class ObservedMachine<R: Rules> {
  /// One step of the machine.
  public struct Step: Sendable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State
    /// The event that made the step.
    public let event: R.Event
  }

  /// What became of an event.
  public enum Outcome: Sendable {
    /// It made this step.
    case changed(Step)
    /// It is ignored in the state that it found.
    case ignored
  }

  private struct Waiting {
    let event: R.Event
    let action: (Step) -> Void
    let result: (Outcome) -> Void
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
  private var waiting: [Waiting] = []
  private var isBusy = false

  /// A machine in the initial state of `rules`, which nobody watches.
  public init(_ rules: R) {
    self.rules = rules
    state = rules.initial
  }

  deinit {
    for stream in streams.values { stream.finish() }
  }

  /// Whether `event` would change something now. Nobody is told.
  public func accepts(_ event: R.Event) -> Bool { rules.next(state, on: event) != nil }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - result: is called at the end with what became of the event.
  ///   - action: is called on the step, before the state is assigned.
  public func send(
    _ event: R.Event, result: @escaping (Outcome) -> Void = { _ in },
    action: @escaping (Step) -> Void = { _ in }
  ) {
    waiting.append(Waiting(event: event, action: action, result: result))
    guard !isBusy else { return }
    isBusy = true
    defer { isBusy = false }
    while !waiting.isEmpty { perform(waiting.removeFirst()) }
  }

  private func perform(_ sent: Waiting) {
    guard let next = rules.next(state, on: sent.event) else { return sent.result(.ignored) }
    let step = Step(from: state, to: next, event: sent.event)
    let isMove = rules.name(of: step.from) != rules.name(of: step.to)
    // As they are now: who comes in the middle would see half a step.
    let (observers, beforeActions, afterActions) = (observers, beforeActions, afterActions)
    let streams = streams
    if isMove { observers.forEach { $0.willExit(step.from) } }
    beforeActions.forEach { $0(step) }
    sent.action(step)
    state = step.to
    afterActions.forEach { $0(step) }
    if isMove {
      observers.forEach { $0.didEnter(step.to) }
      for (number, stream) in streams {
        if case .terminated = stream.yield(step) { self.streams[number] = nil }
      }
    }
    sent.result(.changed(step))
  }
}

extension ObservedMachine where R: DrawableRules {
  /// The names of the states that some event leads to from here, by name; see
  /// ``StateMachine/nextStates``.
  public var nextStates: [String] { rules.nextStates(from: state) }
}

// MARK: - Watching

extension ObservedMachine {
  /// Watches states being left and entered, until the returned registration is ended.
  @discardableResult
  public func observe(
    willExit: @escaping (R.State) -> Void = { _ in },
    didEnter: @escaping (R.State) -> Void = { _ in }
  ) -> Registration {
    observers.add((willExit, didEnter))
  }

  /// Does something before each step, until the returned registration is ended.
  @discardableResult
  public func before(_ action: @escaping (Step) -> Void) -> Registration {
    beforeActions.add(action)
  }

  /// Does something after each step, until the returned registration is ended.
  @discardableResult
  public func after(_ action: @escaping (Step) -> Void) -> Registration {
    afterActions.add(action)
  }

  /// The steps from one state to another from now on, until the machine goes. There can be several
  /// streams at once, and each gets all steps.
  ///
  /// - Parameter count: how many steps are kept for a reader that is slow; of more, the oldest are
  ///   dropped. At least 1.
  public func changes(keepingNewest count: Int) -> AsyncStream<Step> {
    precondition(count > 0, "a stream that keeps nothing would tell nothing")
    let (stream, continuation) = AsyncStream.makeStream(
      of: Step.self, bufferingPolicy: .bufferingNewest(count))
    streamCount += 1
    streams[streamCount] = continuation
    return stream
  }
}
