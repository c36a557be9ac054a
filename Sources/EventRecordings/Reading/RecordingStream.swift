/// The inputs of one recording, or of one of its devices, in the order of the file.
protocol RecordingStream: AnyObject {
  /// The next inputs; `nil` at the end. It reads no more of the file than the first of them needs,
  /// because a pipe may yield the rest much later.
  ///
  /// - Throws: at a fault, after all inputs before it have been returned.
  func next() throws(RecordingError) -> RecordedBatch?

  /// The faults that were skipped.
  var skipped: SkippedFaults { get }

  /// How many bytes of the file have been read.
  var bytesTaken: Int { get }
}

extension RecordingStream {
  /// The next inputs; `nil` at the end and at a fault, which is kept if there was none before.
  func next(_ fault: inout RecordingError?) -> RecordedBatch? {
    do throws(RecordingError) {
      return try next()
    } catch {
      fault = fault ?? error
      return nil
    }
  }
}

/// How a recording is read.
struct ReadingOptions {
  /// Whether faults are skipped and counted.
  var isLenient = false

  /// Whether regular lines are read many at a time, by the fast path of their format. Tests compare
  /// its results with those of the parsers.
  var hasFastPath = true

  /// Takes warnings: what the user should know but what does not prevent reading.
  var warn: (RecordingError) -> Void = { _ in }
}
