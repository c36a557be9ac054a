internal import KeyboardModes

/// The inputs of a recording, or of one device of it, in the order in which they stand there.
protocol RecordingStream: AnyObject {
  /// The next input, or `nil` at the end.
  func next() throws(RecordingError) -> RecordedInput?

  /// What was passed over although it is wrong.
  var skipped: SkippedFaults { get }

  /// How many bytes of the file have been read.
  var bytesTaken: Int { get }
}

/// How a recording is read.
struct ReadingOptions {
  /// Whether what is wrong is passed over and counted.
  var isLenient = false

  /// Takes what the user should know but what keeps nothing from being read.
  var warn: (RecordingError) -> Void = { _ in }
}

/// What is wrong with a recording and was passed over.
public struct SkippedFaults: Hashable, Sendable {
  /// How many places.
  public private(set) var count = 0

  /// The first of them.
  public private(set) var first: RecordingError?

  /// Nothing.
  init() {}

  mutating func add(_ error: RecordingError) {
    count += 1
    first = first ?? error
  }

  mutating func add(_ others: SkippedFaults) {
    count += others.count
    first = first ?? others.first
  }
}
