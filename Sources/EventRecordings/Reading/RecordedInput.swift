public import KeyboardModes

/// One input of the controller, as a recording has it.
public struct RecordedInput: Hashable, Sendable {
  /// When it happened, on the recording's clock; `nil` if the recording does not say, and only the
  /// order of the inputs counts.
  public let time: Time?
  /// What happened.
  public let input: Controller.Input

  init(time: Time?, input: Controller.Input) {
    self.time = time
    self.input = input
  }

  /// An event of a key of `device`.
  public init(_ device: DeviceID, _ event: KeyEvent) {
    self.init(time: event.time, input: .key(device, event))
  }
}
