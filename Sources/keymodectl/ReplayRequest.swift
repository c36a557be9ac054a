import Configuration
import KeyboardModes
import Linux
import Recordings
import Replay
import Terminal

/// How `keymodectl replay` reads and replays recordings, by its options.
struct ReplayRequest {
  let asJSON: Bool
  private let isLenient: Bool
  private let isCounting: Bool
  private let format: RecordingFormat?
  private let settings: Settings
  private let from: Time?
  private let until: Time?

  /// Reads the options and the configuration.
  init(_ arguments: Arguments) throws {
    asJSON = arguments.has("--json")
    isLenient = arguments.has("--lenient")
    isCounting = arguments.has("--stats")
    format = try arguments["--format"].map { name throws(UsageError) in
      guard let format = RecordingFormat(rawValue: name) else {
        let names = RecordingFormat.allCases.map(\.rawValue)
        throw UsageError("unknown format '\(name)'; the formats are\n\(wrapped(names))")
      }
      return format
    }
    settings = try configuration(arguments).settings
    func time(_ option: String) throws(UsageError) -> Time? {
      try arguments[option].map(microseconds).map(Time.init)
    }
    from = try time("--from")
    until = try time("--until")
    if let from, let until, until < from { throw UsageError("'--until' is earlier than '--from'") }
  }

  /// Opens the recordings at these paths, which are merged.
  func recording(of paths: [String]) throws(RecordingError) -> Recording {
    try Recording(opening: paths, format: format, isLenient: isLenient) { complain("\($0)") }
  }

  /// A replay that has not begun.
  func replay(drawing isDrawing: Bool = false) -> Replay {
    Replay(
      settings: settings, from: from, until: until, counting: isCounting, drawing: isDrawing)
  }
}
