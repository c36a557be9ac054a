public import KeyboardModes
public import Keyboards

/// What to record, and how.
public struct RecordingRequest {
  /// The devices to record.
  public var selection: Keyboards.Selection
  /// The path of the file; `nil` for standard output.
  public var output: String?
  /// Whether key codes are written. If not, the recording is redacted: see `Redactor`.
  public var showsKeyCodes = false
  /// The settings that decide which keys are bound.
  public var settings = Settings()
  /// Lines for people, at the beginning of the recording.
  public var remarks: [String] = []

  /// A request to record these devices, redacted, to standard output.
  public init(_ selection: Keyboards.Selection) { self.selection = selection }
}
