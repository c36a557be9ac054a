public import KeyboardModes

/// One input of the controller that a recording holds.
public struct RecordedInput: Hashable, Sendable {
  /// When it happened, on the recording's clock; `nil` where the recording does not say, and only its
  /// place among the others counts.
  public let time: Time?
  /// What happened.
  public let input: Controller.Input

  init(time: Time?, input: Controller.Input) {
    self.time = time
    self.input = input
  }

  /// What happened to a key of `device`.
  public init(_ device: DeviceID, _ event: KeyEvent) {
    self.init(time: event.time, input: .key(device, event))
  }
}

/// Numbers the devices of several streams so that no two have the same number.
struct DeviceNumbering {
  private let stream: Int
  private let streams: Int

  /// The numbering of one stream, the `stream`th of `streams`.
  init(stream: Int = 0, of streams: Int = 1) {
    self.stream = stream
    self.streams = streams
  }

  /// The device that the stream counts as its `device`th.
  func id(_ device: Int) -> DeviceID { DeviceID(order: device * streams + stream) }
}

/// Makes inputs out of the entries of one stream.
struct EntryInterpreter {
  private let numbering: DeviceNumbering
  private var devices: [DeviceEvents] = []

  init(_ numbering: DeviceNumbering) { self.numbering = numbering }

  /// - Returns: what `entry` means, if it means anything yet.
  mutating func take(_ entry: Entry) throws(LineFault) -> RecordedInput? {
    switch entry {
    case .event(let event):
      grow(to: event.device)
      return try devices[event.device].take(event).map { input($0, event.device) }
    case .held(let keys, let device):
      let id = numbering.id(device)
      return RecordedInput(time: nil, input: .opened(id, held: keys))
    case .lost(let device):
      grow(to: device)
      devices[device].expectDifferences()
      return nil
    case .reportEnd(let device):
      grow(to: device)
      return devices[device].endReport().map { input($0, device) }
    case .gone(let device, let time):
      return RecordedInput(time: time, input: .gone(numbering.id(device)))
    }
  }

  /// Whether the recording ends within something that has to be whole.
  var isUnfinished: Bool { devices.contains(where: \.isUnfinished) }

  /// Whether there is one device at most, of which every key event means itself and no other event
  /// means anything but a loss.
  var isPlain: Bool { devices.isEmpty || (devices.count == 1 && devices[0].isPlain) }

  /// Key events of the only device.
  func run(_ events: [KeyEvent]) -> KeyRun { KeyRun(device: numbering.id(0), events: events) }

  private func input(_ outcome: DeviceEvents.Outcome, _ device: Int) -> RecordedInput {
    let id = numbering.id(device)
    switch outcome {
    case .key(let event): return RecordedInput(time: event.time, input: .key(id, event))
    case .found(let found, let time):
      return RecordedInput(time: time, input: .synchronized(id, found, at: time))
    }
  }

  private mutating func grow(to device: Int) {
    while devices.count <= device { devices.append(DeviceEvents()) }
  }
}
