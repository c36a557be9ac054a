internal import KeyboardModes

/// The inputs of a recording, or of one device of it, in the order in which they stand there.
protocol RecordingStream: AnyObject {
  /// The next input, or `nil` at the end.
  func next() throws(RecordingError) -> RecordedInput?

  /// The key events that come next, where they are in memory already and nothing else has to be told
  /// of what they stand in; `nil` says nothing of what ``next()`` will return. Of both together comes
  /// what would come of ``next()`` alone.
  func nextKeys() -> KeyRun?

  /// What was passed over although it is wrong.
  var skipped: SkippedFaults { get }

  /// How many bytes of the file have been read.
  var bytesTaken: Int { get }
}

extension RecordingStream {
  func nextKeys() -> KeyRun? { nil }
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
