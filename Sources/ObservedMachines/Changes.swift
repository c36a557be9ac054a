public import StateMachines

/// The states that a machine leaves and enters, as ``ObservedMachine/changes(keepingNewest:)``
/// tells them.
public struct Changes<R: Rules>: AsyncSequence, Sendable {
  /// One thing that happened to the machine.
  public enum Element: Sendable {
    /// This step is about to leave its state.
    case willExit(ObservedMachine<R>.Step)
    /// This state was entered, by a step, or by ``ObservedMachine/start()`` if there is none.
    case didEnter(R.State, after: ObservedMachine<R>.Step?)
    /// The reader was too slow: so many elements were dropped here.
    case missed(Int)
  }

  struct Numbered: Sendable {
    let number: Int
    let change: Element
  }

  let stream: AsyncStream<Numbered>
  /// The number of the first element.
  let next: Int

  /// An iterator over the changes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(iterator: stream.makeAsyncIterator(), expected: next)
  }

  /// Reads changes, and counts those that were dropped.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<Numbered>.AsyncIterator
    fileprivate var expected: Int
    /// The element after those that were dropped.
    private var waiting: Element?

    fileprivate init(iterator: AsyncStream<Numbered>.AsyncIterator, expected: Int) {
      (self.iterator, self.expected) = (iterator, expected)
    }

    /// The next change; `nil` at the end of the machine, or when the reader's task is cancelled.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// The next change; `nil` at the end of the machine, or when the reader's task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      if let element = waiting {
        waiting = nil
        return element
      }
      guard let read = await iterator.next(isolation: actor) else { return nil }
      let missed = read.number - expected
      expected = read.number + 1
      guard missed > 0 else { return read.change }
      waiting = read.change
      return .missed(missed)
    }
  }
}

/// The sequences that tell their readers of elements.
struct Readers<Element: Sendable> {
  private var streams: [(number: Int, stream: AsyncStream<Element>.Continuation)] = []
  /// How many readers have been added.
  private(set) var count = 0

  /// Adds a reader.
  ///
  /// - Parameters:
  ///   - first: what it is told at once.
  ///   - isOver: whether that is all.
  mutating func add(
    keeping: AsyncStream<Element>.Continuation.BufferingPolicy, first: Element? = nil,
    isOver: Bool
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: keeping)
    if let first { continuation.yield(first) }
    if isOver {
      continuation.finish()
    } else {
      streams.append((count, continuation))
      count += 1
    }
    return stream
  }

  /// Tells the readers that were added as the first so many; by default all. Forgets those that
  /// have stopped reading.
  mutating func tell(_ element: Element, first: Int = .max) {
    streams.removeAll { reader in
      guard reader.number < first, case .terminated = reader.stream.yield(element) else {
        return false
      }
      return true
    }
  }

  /// Ends all sequences.
  mutating func finish() {
    for reader in streams { reader.stream.finish() }
    streams = []
  }
}
