import KeyboardModes

/// The last changes; all subscribers share one copy.
struct ChangeRing {
  /// How many changes are kept for subscribers that fall behind.
  static let defaultCapacity = 1024

  let capacity: Int
  private var changes: [Change] = []

  /// The number of the first change that was ever in the ring.
  private var start: Int64 = 1

  /// The number of the last change; 0 before the first.
  private(set) var lastSequence: Int64

  var count: Int { changes.count }

  /// An empty ring, for the changes after number `sequence`.
  init(capacity: Int = ChangeRing.defaultCapacity, after sequence: Int64 = 0) {
    (self.capacity, lastSequence) = (capacity, sequence)
    changes.reserveCapacity(capacity)
  }

  /// Adds the change that follows the last one.
  mutating func append(_ change: consuming Change) {
    lastSequence = change.sequence
    if changes.isEmpty { start = lastSequence }
    if changes.count < capacity {
      changes.append(change)
    } else {
      changes[index(of: lastSequence)] = change
    }
  }

  /// Whether the ring still has all changes after number `sequence`.
  /// `sequence` must not exceed ``lastSequence``.
  func hasAll(after sequence: Int64) -> Bool { lastSequence - sequence <= Int64(changes.count) }

  /// The changes after number `sequence` up to number `last`. The ring must have all of them.
  func changes(after sequence: Int64, upTo last: Int64) -> LazyMapSequence<Range<Int64>, Change> {
    (sequence..<last).lazy.map { changes[index(of: $0 + 1)] }
  }

  private func index(of sequence: Int64) -> Int { Int((sequence - start) % Int64(capacity)) }
}
