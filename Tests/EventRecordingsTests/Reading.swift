import KeyboardModes
import TestSupport
import Testing

@testable import EventRecordings

/// Everything that reading recordings returns, with or without the fast path.
struct Reading: Equatable {
  var inputs: [RecordedInput] = []
  var error: RecordingError?
  var skipped: SkippedFaults?
  var warnings: [RecordingError] = []

  /// How many inputs came in batches of the fast path.
  var quickInputs = 0

  init(_ files: [String], isFast: Bool, isLenient: Bool) {
    do throws(RecordingError) {
      var warned: Set<RecordingError> = []
      let options = ReadingOptions(isLenient: isLenient, hasFastPath: isFast) { warned.insert($0) }
      defer { warnings = warned.sorted { $0.message < $1.message } }
      var recording = try Recording(opening: files, format: nil, options)
      defer { skipped = recording.skipped }
      while let batch = try recording.next() {
        inputs += batch.inputs
        if case .keys = batch { quickInputs += batch.count }
      }
    } catch {
      self.error = error
    }
  }

  static func == (lhs: Reading, rhs: Reading) -> Bool {
    lhs.inputs == rhs.inputs && lhs.error == rhs.error && lhs.skipped == rhs.skipped
      && lhs.warnings == rhs.warnings
  }
}

/// Expects that reading returns the same with and without the fast path.
///
/// - Returns: how many inputs the fast path returned.
@discardableResult
func expectSame(_ bytes: [UInt8], _ what: @autoclosure () -> String) throws -> Int {
  let folder = try TemporaryFolder()
  let file = try folder.write("recording", bytes)
  var quickInputs = 0
  for isLenient in [true, false] {
    let slow = Reading([file], isFast: false, isLenient: isLenient)
    let quick = Reading([file], isFast: true, isLenient: isLenient)
    #expect(quick == slow, "\(what()), \(isLenient ? "leniently" : "strictly")")
    quickInputs = quick.quickInputs
  }
  return quickInputs
}
