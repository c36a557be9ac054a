import CommandLineTools
import EventRecordings
import KeyboardModes
import KeymodedConfiguration
import Replaying
import SystemCalls
import Timelines

/// How `keymodectl replay` reads and replays recordings, by its options.
struct ReplayRequest {
  let asJSON: Bool
  private let isLenient: Bool
  private let isCounting: Bool
  private let format: RecordingFormat?
  private let settings: Settings
  private let window: ReplayWindow

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
    window = try ReplayWindow(from: time("--from"), until: time("--until"))
  }

  /// Opens the recordings at these paths, which are merged.
  func recording(of paths: [FilePath]) throws(RecordingError) -> Recording {
    try Recording(opening: paths, format: format, isLenient: isLenient) { complain("\($0)") }
  }

  /// A replay that has not begun.
  func replay(drawing isDrawing: Bool = false) -> Replay {
    Replay(
      settings: settings, window: window,
      summary: ReplaySummary(
        statistics: isCounting ? ReplayStatistics() : nil,
        timeline: isDrawing ? Timeline(keyboard: settings.keyboard) : nil))
  }
}
