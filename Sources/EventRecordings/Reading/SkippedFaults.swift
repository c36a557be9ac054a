/// The faults of a recording that were skipped.
public struct SkippedFaults: Hashable, Sendable {
  /// How many there were.
  public private(set) var count = 0

  /// The first of them.
  public private(set) var first: RecordingError?

  /// No faults.
  init() {}

  mutating func add(_ error: RecordingError) {
    count += 1
    first = first ?? error
  }

  /// Adds a fault.
  ///
  /// - Throws: the fault, if faults are not skipped.
  mutating func add(_ error: RecordingError, _ options: ReadingOptions) throws(RecordingError) {
    guard options.isLenient else { throw error }
    add(error)
  }

  mutating func add(_ others: SkippedFaults) {
    count += others.count
    first = first ?? others.first
  }
}
