import KeyboardModes

/// The last changes, each kept once for all subscribers.
struct ChangeRing {
  /// How many changes are kept, for subscribers that fall behind and for the next daemon.
  static let usualCapacity = 1024

  let capacity: Int
  private var changes: [Change] = []

  /// The number of the first change that was ever in the ring.
  private var start: Int64 = 1

  /// The number of the last change; 0 before the first.
  private(set) var latest: Int64 = 0

  /// A ring with these changes, which are the last of the sequence.
  init(capacity: Int = ChangeRing.usualCapacity, restoring restored: [Change] = []) {
    self.capacity = capacity
    changes.reserveCapacity(capacity)
    for change in restored { append(change) }
  }

  /// Adds the change that follows the last one.
  mutating func append(_ change: Change) {
    if changes.isEmpty { start = change.sequence }
    if changes.count < capacity {
      changes.append(change)
    } else {
      changes[index(of: change.sequence)] = change
    }
    latest = change.sequence
  }

  /// The changes after number `sequence`, between 0 and ``latest``; `nil` if the ring has lost some
  /// of them.
  func last(after sequence: Int64) -> Last? {
    guard latest - sequence <= Int64(changes.count) else { return nil }
    return Last(ring: self, upcoming: sequence + 1, end: latest)
  }

  /// The last changes of a ring, in order.
  struct Last: Sequence, IteratorProtocol {
    fileprivate let ring: ChangeRing
    fileprivate var upcoming: Int64

    /// The number of the last one.
    fileprivate(set) var end: Int64

    /// The first of them, up to number `sequence` and at most `count`.
    func first(upTo sequence: Int64, atMost count: Int64) -> Last {
      var first = self
      first.end = Swift.min(end, sequence, upcoming - 1 + count)
      return first
    }

    mutating func next() -> Change? {
      guard upcoming <= end else { return nil }
      defer { upcoming += 1 }
      return ring.changes[ring.index(of: upcoming)]
    }
  }

  private func index(of sequence: Int64) -> Int { Int((sequence - start) % Int64(capacity)) }
}
