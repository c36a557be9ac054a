import KeyboardModes

/// The updates of the daemon, as an asynchronous sequence.
///
/// Each iteration is a subscription of its own. It reads only when the program asks for an update:
/// a slow program holds the messages of one read at most, and learns how many changes it missed.
public struct Changes: AsyncSequence, Sendable {
  let directory: String
  let machines: Set<MachineName>?

  /// One subscription. Releasing the iterator or cancelling the task closes the connection.
  ///
  /// The iterator runs on the actor that calls it, even the main actor: a thread of the runtime's
  /// pool would start a timer of libdispatch that wakes the process every second.
  public struct Iterator: AsyncIteratorProtocol {
    /// The subscription, or why there could be none; `nil` once the sequence is over.
    private var subscription: Result<Subscription, ClientError>?
    private var pending: ArraySlice<Update> = []

    fileprivate init(_ subscription: Result<Subscription, ClientError>) {
      self.subscription = subscription
    }

    /// The next update; `nil` when the task is cancelled.
    ///
    /// - Throws: ``ClientError`` if waiting would not help, such as for an invalid reply.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ClientError) -> Update? {
      do throws(ClientError) {
        while let subscription = try subscription?.get(), !Task.isCancelled {
          if let update = pending.popFirst() { return update }
          pending = try subscription.advance()[...]
          guard pending.isEmpty else { continue }
          guard try await waitUntilReadable(subscription.descriptor, isolation: actor) else {
            break
          }
        }
        subscription = nil
        return nil
      } catch {
        subscription = nil
        throw error
      }
    }

    /// Calls ``next(isolation:)`` outside any actor. From Swift 6.2 on, the protocol provides this.
    public mutating func next() async throws(ClientError) -> Update? {
      try await next(isolation: nil)
    }
  }

  /// An iterator, which subscribes when its first update is requested.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      Result { () throws(ClientError) in
        try Subscription(to: directory, of: machines)
      })
  }
}

@available(*, unavailable)
extension Changes.Iterator: Sendable {}
