/// What happens, as an asynchronous sequence.
///
/// Each iteration is a subscription of its own. Nothing is read before it is asked for: a program
/// that is slow holds no more than one message of the daemon, and is told what it missed by that.
public struct Changes: AsyncSequence, Sendable {
  let directory: String
  let patience: Patience

  /// One subscription. Its connection closes when it is let go, or when the task is cancelled.
  public struct Iterator: AsyncIteratorProtocol {
    private let subscription: Subscription

    fileprivate init(_ subscription: Subscription) { self.subscription = subscription }

    /// The next update; `nil` when the task is cancelled.
    public mutating func next() async throws(ClientError) -> Update? {
      try await subscription.next()
    }

    /// The next update; `nil` when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ClientError) -> Update? {
      try await subscription.next()
    }
  }

  /// Subscribes, with the first update that is asked for.
  public func makeAsyncIterator() -> Iterator {
    Iterator(Subscription(directory: directory, patience: patience))
  }
}

@available(*, unavailable)
extension Changes.Iterator: Sendable {}
