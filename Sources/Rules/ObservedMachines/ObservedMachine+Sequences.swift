public import StateMachines

extension ObservedMachine {
  /// A state that is left or entered.
  public struct Change {
    /// Whether the state is left or entered.
    public enum Kind: Sendable { case leaving, entering }

    /// How many changes came before this change in the sequence. If a number is missing, the reader
    /// was too slow.
    public let number: Int
    /// `leaving` is about `step.from`, and `entering` about `step.to`.
    public let kind: Kind
    /// The step that leaves one state and enters the other.
    public let step: Step
    /// The state that is left or entered.
    public var state: R.State { kind == .leaving ? step.from : step.to }

    @inlinable init(number: Int, kind: Kind, step: Step) {
      (self.number, self.kind, self.step) = (number, kind, step)
    }
  }
}

extension ObservedMachine.Change: Sendable where R.State: Sendable, R.Event: Sendable {}

extension ObservedMachine where R.State: Sendable {
  /// The present state, then each new value of ``state``, even if only the payload is new. The
  /// sequence ends with the machine: when a final state is reached, or when the machine is
  /// deallocated.
  ///
  /// A slow reader skips values, but never the last value, so it always learns the present state.
  /// Every use of this property begins another sequence, for one reader.
  @inlinable public var states: AsyncStream<R.State> {
    let (states, continuation) = AsyncStream.makeStream(
      of: R.State.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield(state)
    addSequence(
      notify: { kind, step in
        if kind == nil, case .terminated = continuation.yield(step.to) { true } else { false }
      }, finish: continuation.finish)
    return states
  }
}

extension ObservedMachine where R.State: Sendable, R.Event: Sendable {
  /// Each state that is left or entered from now on, in order. The sequence ends with the machine,
  /// as ``states`` does. Every call begins another sequence, for one reader.
  ///
  /// - Parameter count: how many changes the sequence keeps for a slow reader, at least 1; beyond
  ///   that it drops the oldest. By default it keeps all.
  @inlinable public func changes(keepingNewest count: Int? = nil) -> AsyncStream<Change> {
    precondition(count.map { $0 > 0 } ?? true, "a sequence that keeps nothing would tell nothing")
    let (changes, continuation) = AsyncStream.makeStream(
      of: Change.self, bufferingPolicy: count.map { .bufferingNewest($0) } ?? .unbounded)
    var number = 0
    addSequence(
      notify: { kind, step in
        guard let kind else { return false }
        defer { number += 1 }
        let result = continuation.yield(Change(number: number, kind: kind, step: step))
        guard case .terminated = result else { return false }
        return true
      }, finish: continuation.finish)
    return changes
  }

  /// Waits until the machine is in a state with the name of `state`, or has passed through it, and
  /// returns that state as it was entered. Returns `nil` if the machine ends first, or if the task
  /// is cancelled.
  public func wait(
    for state: R.State, isolation: isolated (any Actor)? = #isolation
  ) async -> R.State? {
    let name = rules.name(of: state)
    if stateName == name { return self.state }
    for await change in changes()
    where change.kind == .entering && rules.name(of: change.state) == name { return change.state }
    return nil
  }
}

/// How the machine reaches one sequence that has not ended.
@usableFromInline struct OpenSequence<R: Rules> {
  /// Called when a state is left or entered; with `nil` when the state is assigned. Returns whether
  /// the reader has gone.
  @usableFromInline let notify: (ObservedMachine<R>.Change.Kind?, ObservedMachine<R>.Step) -> Bool
  let finish: () -> Void
}

extension ObservedMachine {
  @usableFromInline func addSequence(
    notify: @escaping (Change.Kind?, Step) -> Bool, finish: @escaping () -> Void
  ) {
    sequences.append(OpenSequence(notify: notify, finish: finish))
    isWatched = true
    if mode == .ended || mode == .new && isFinal { finishSequences() }
  }

  /// Notifies the sequences, and forgets those whose reader has gone.
  @inlinable func notify(_ kind: Change.Kind?, _ step: Step) {
    if !sequences.isEmpty { sequences.removeAll { $0.notify(kind, step) } }
  }

  func finishSequences() {
    for sequence in sequences { sequence.finish() }
    sequences = []
  }
}
