public import StateMachines

extension ObservedMachine {
  /// A state that is left or entered.
  public struct Change: Sendable {
    /// Whether the state is left or entered.
    public enum Kind: Sendable { case leaving, entering }

    /// How many changes were before this one in its sequence. If a number is missing, the reader
    /// was too slow.
    public let number: Int
    /// Whether a state is left or entered.
    public let kind: Kind
    /// The step that leaves and enters.
    public let step: Step
    /// The state that is left or entered.
    public var state: R.State { kind == .leaving ? step.from : step.to }
  }

  /// The present state, then each new value of ``state``, even if only the payload is new. The
  /// sequence ends with the machine: when a final state is reached, or when the machine is
  /// deallocated.
  ///
  /// A reader that is slow skips values, but never the last one, so what it shows is never out of
  /// date. Every use of this property begins another sequence, for one reader.
  public var states: AsyncStream<R.State> {
    let (states, reader) = AsyncStream.makeStream(
      of: R.State.self, bufferingPolicy: .bufferingNewest(1))
    reader.yield(state)
    begin { $0.states.append(reader) }
    return states
  }

  /// Each state that is left or entered from now on, in order. The sequence ends with the machine,
  /// as ``states`` does. Every call begins another sequence, for one reader.
  ///
  /// - Parameter count: how many changes the sequence keeps for a slow reader, at least 1; beyond
  ///   that it drops the oldest. By default it keeps all.
  public func changes(keepingNewest count: Int? = nil) -> AsyncStream<Change> {
    precondition(count.map { $0 > 0 } ?? true, "a sequence that keeps nothing would tell nothing")
    let (changes, reader) = AsyncStream.makeStream(
      of: Change.self, bufferingPolicy: count.map { .bufferingNewest($0) } ?? .unbounded)
    begin { $0.changes.append((0, reader)) }
    return changes
  }

  private func begin(_ add: (inout Readers<R>) -> Void) {
    add(&readers)
    if mode == .ended || mode == .new && isFinal { readers.finish() }
  }
}

/// The sequences of a machine. One whose reader has gone is forgotten when it is told again.
struct Readers<R: Rules> {
  typealias Change = ObservedMachine<R>.Change

  var states: [AsyncStream<R.State>.Continuation] = []
  var changes: [(told: Int, reader: AsyncStream<Change>.Continuation)] = []

  mutating func tell(_ state: R.State) {
    states.removeAll { if case .terminated = $0.yield(state) { true } else { false } }
  }

  mutating func tell(_ kind: Change.Kind, _ step: ObservedMachine<R>.Step) {
    for index in changes.indices.reversed() {
      let change = Change(number: changes[index].told, kind: kind, step: step)
      changes[index].told += 1
      if case .terminated = changes[index].reader.yield(change) { changes.remove(at: index) }
    }
  }

  mutating func finish() {
    for reader in states { reader.finish() }
    for change in changes { change.reader.finish() }
    (states, changes) = ([], [])
  }
}
