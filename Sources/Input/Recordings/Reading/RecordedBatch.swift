public import KeyboardModes

/// What ``Recording/next()`` returns: several key events, or one input.
///
/// Most recordings are nearly all key events of one device. An event in an array of plain values
/// costs little. To make it an input of the controller would take longer than to read and replay
/// it.
public enum RecordedBatch: Sendable {
  /// Consecutive key events of one device, in order: at least one, at most 1,024.
  case keys(DeviceID, [KeyEvent])
  /// One input of any kind, which may be a key event.
  case input(Controller.Input)

  /// The maximum number of events in a batch. The events have to stay in the processor's cache
  /// until they are used.
  static let capacity = 1024

  /// How many inputs the batch has.
  public var count: Int {
    switch self {
    case .keys(_, let events): events.count
    case .input: 1
    }
  }

  /// The device of all its inputs.
  var device: DeviceID {
    switch self {
    case .keys(let device, _): device
    case .input(let input): input.device ?? DeviceID(order: 0)
    }
  }

  /// The inputs of the batch, one by one.
  public var inputs: [Controller.Input] {
    switch self {
    case .keys(let device, let events): events.map { .key(device, $0) }
    case .input(let input): [input]
    }
  }
}
