import Glibc
public import KeyboardModes
public import Recordings
import Wire

/// A file of the changes that a replay should make, in the lines that `replay --json` or
/// `watch --json` prints.
public final class ExpectedChanges {
  private let name: String
  private let file: UnsafeMutablePointer<FILE>
  private var line = 0

  /// How many changes were as expected.
  public private(set) var count = 0
  /// Whether a change was not as expected. The changes after it are not compared.
  public private(set) var isDifferent = false

  /// A bound on the lines that keymodectl prints, in bytes.
  private static let maxLineLength = 4096

  /// Opens the file at `path`.
  ///
  /// - Throws: `RecordingError` if it cannot be opened.
  public init(_ path: String) throws(RecordingError) {
    guard let file = fopen(path, "re") else {
      throw RecordingError(String(cString: strerror(errno)), file: path)
    }
    name = path
    self.file = file
  }

  deinit { fclose(file) }

  /// Compares the next change of the replay, or its end, with that of the file. Their numbers need
  /// not be the same: those of `watch` begin anywhere.
  ///
  /// - Parameter change: the change; `nil` for the end.
  /// - Returns: the first difference, once.
  /// - Throws: `RecordingError` if the file cannot be read or has another line than a change.
  public func compare(_ change: Change?) throws(RecordingError) -> ReplayDifference? {
    guard !isDifferent else { return nil }
    let expected = try next()
    if expected == nil, change == nil { return nil }
    if let expected, let change, expected.isSame(as: change) {
      count += 1
      return nil
    }
    isDifferent = true
    let place = expected == nil ? "after \(name):\(line)" : "\(name):\(line)"
    return ReplayDifference(place: place, expected: expected, replayed: change)
  }

  private func next() throws(RecordingError) -> Change? {
    while true {
      var buffer = [CChar](repeating: 0, count: Self.maxLineLength)
      guard fgets(&buffer, Int32(buffer.count), file) != nil else {
        guard ferror(file) == 0 else {
          throw RecordingError(String(cString: strerror(errno)), file: name)
        }
        return nil
      }
      line += 1
      let text = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      guard let json = try? JSON(parsing: text) else { throw fault() }
      if let change = Change(json) { return change }
      if json["missed"] != nil { throw fault("'watch' was too slow and missed changes here") }
      // `watch` begins with the states, and `replay --stats` ends with the counts.
      guard json["stats"] != nil || line == 1 && StateMessage(json) != nil else { throw fault() }
    }
  }

  private func fault(
    _ message: String = "not a change as 'replay --json' prints it"
  ) -> RecordingError { RecordingError(message, file: name, line: line) }
}

extension Change {
  /// Whether the same happened at the same time.
  fileprivate func isSame(as other: Change) -> Bool {
    (time, machine, from, to, event) == (
      other.time, other.machine, other.from, other.to, other.event
    )
  }
}

/// The first difference between a replay and what was expected of it.
public struct ReplayDifference: Hashable, Sendable {
  /// Where it is in the file of expected changes: `changes.jsonl:2`, or `after changes.jsonl:8`.
  public let place: String
  /// The next change in the file; `nil` at its end.
  public let expected: Change?
  /// The next change of the replay; `nil` at its end.
  public let replayed: Change?
}
