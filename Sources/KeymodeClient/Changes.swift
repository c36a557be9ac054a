/// The updates of the daemon, as an asynchronous sequence.
///
/// Each iteration is a subscription of its own. It reads a message only when the program asks for
/// an update: a slow program holds at most one message, and learns how many changes it missed.
public struct Changes: AsyncSequence, Sendable {
  let directory: String
  let retryDelays: RetryDelays

  /// One subscription. Its connection closes when the iterator is released or its task cancelled.
  public struct Iterator: AsyncIteratorProtocol {
    private let subscription: Subscription

    fileprivate init(_ subscription: Subscription) { self.subscription = subscription }

    /// The next update; `nil` when the task is cancelled.
    ///
    /// - Throws: ``ClientError`` if waiting would not help, such as for lack of permission.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ClientError) -> Update? {
      try await subscription.next(isolation: actor)
    }

    /// The same, outside any actor. From Swift 6.2 on, the protocol itself has it.
    public mutating func next() async throws(ClientError) -> Update? {
      try await next(isolation: nil)
    }
  }

  /// An iterator, which subscribes when its first update is requested.
  public func makeAsyncIterator() -> Iterator {
    Iterator(Subscription(directory: directory, retryDelays: retryDelays))
  }
}

@available(*, unavailable)
extension Changes.Iterator: Sendable {}
