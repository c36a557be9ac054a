import EventRecordings
import Glibc
import JSON
import KeyboardModes
import KeymodeInterface
import SystemCalls

/// The changes that a replay has to make, a JSON line each, as `replay --json` or `watch --json`
/// printed them.
struct ExpectedChanges: ~Copyable {
  private let name: String
  private let file: UnsafeMutablePointer<FILE>
  private var line = 0

  /// How many changes there were before the first of these.
  private var base: Int64 = 0

  /// How many changes were compared.
  private(set) var count = 0

  /// Further than any daemon counts.
  private static let mostCounted: Int64 = 1 << 53

  /// Far more than any line that keymodectl prints.
  private static let longestLine = 4096

  init(_ path: String) throws(RecordingError) {
    guard let file = fopen(path, "re") else {
      throw RecordingError(String(cString: strerror(errno)), file: path)
    }
    name = path
    self.file = file
  }

  deinit { fclose(file) }

  /// - Returns: how `change` differs from what comes next.
  mutating func compare(_ change: Change) throws(RecordingError) -> ReplayDifference? {
    let expected = try next()
    guard expected != change.numbered(change.sequence + base) else {
      count += 1
      return nil
    }
    let place = expected == nil ? "after \(name):\(line)" : "\(name):\(line)"
    return ReplayDifference(place, expected: expected, replayed: change)
  }

  /// - Returns: what is still expected, but the replay has ended.
  mutating func end() throws(RecordingError) -> ReplayDifference? {
    guard let expected = try next() else { return nil }
    return ReplayDifference("\(name):\(line)", expected: expected, replayed: nil)
  }

  private mutating func next() throws(RecordingError) -> Change? {
    while true {
      var buffer = [CChar](repeating: 0, count: Self.longestLine)
      guard fgets(&buffer, Int32(buffer.count), file) != nil else {
        guard ferror(file) == 0 else {
          throw RecordingError(String(cString: strerror(errno)), file: name)
        }
        return nil
      }
      line += 1
      let text = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      guard let json = try? JSON(parsing: text) else { throw fault }
      if let change = Change(json) { return change }
      // What a watch begins with, and what a replay with statistics ends with.
      if line == 1, let state = StateMessage(json), 0...Self.mostCounted ~= state.modes.sequence {
        base = state.modes.sequence
      } else if json["missed"] != nil {
        throw RecordingError(
          "changes are missing here, which 'watch' was too slow for", file: name, line: line)
      } else if json["stats"] == nil {
        throw fault
      }
    }
  }

  private var fault: RecordingError {
    RecordingError("not a change as 'replay --json' prints it", file: name, line: line)
  }
}

extension Change {
  /// The same, with another number.
  fileprivate func numbered(_ sequence: Int64) -> Change {
    Change(sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }
}

/// How a replay differs from what was expected.
struct ReplayDifference: TerminalTextConvertible {
  let text: TerminalText

  init(_ place: String, expected: Change?, replayed: Change?) {
    let lines = [("expected", expected), ("replayed", replayed)].map {
      what, change -> TerminalText in
      guard let change else { return "\(what): no more changes" }
      return "\(what): change \(change.sequence)\n\(ChangeLine.text(of: change))"
    }
    text = "\(place): the replay differs\n\(lines.joined(separator: "\n"))"
  }
}
