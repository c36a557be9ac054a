import KeyboardModes

/// Gives the devices of several streams different numbers.
struct DeviceNumbering {
  private let stream: Int
  private let streams: Int

  /// The numbering for stream `stream` of `streams`: the numbers of the streams interleave.
  init(stream: Int = 0, of streams: Int = 1) {
    self.stream = stream
    self.streams = streams
  }

  /// The device that has the number `device` in its stream, from 0.
  func id(_ device: Int) -> DeviceID { DeviceID(order: device * streams + stream) }
}

/// Turns the entries of one stream into inputs.
struct EntryInterpreter {
  private let numbering: DeviceNumbering
  private var devices: [DeviceEvents] = []
  /// The time of the last key event.
  private var last = Time(microseconds: 0)

  init(_ numbering: DeviceNumbering) { self.numbering = numbering }

  /// The input that `entry` completes, if it completes one.
  mutating func take(_ entry: Entry) throws(LineFault) -> RecordedInput? {
    switch entry {
    case .event(let event):
      if event.type == 1 { last = event.time }
      return try devices[grown(to: event.device)].take(event)
    case .held(let keys, let device):
      return RecordedInput(time: nil, input: .opened(numbering.id(device), held: keys))
    case .lost(let device):
      devices[grown(to: device)].expectDifferences()
      return nil
    case .missed(let device):
      devices[grown(to: device)].expectMissedRelease()
      return nil
    case .reportEnd(let device):
      return devices[grown(to: device)].endReport()
    case .gone(let device, let time):
      // Some formats do not write when a device went away.
      return RecordedInput(time: time, input: .gone(numbering.id(device), at: time ?? last))
    case .warning: return nil
    }
  }

  /// Whether the recording ends within a report of differences, which has to be complete.
  var isUnfinished: Bool { devices.contains(where: \.isUnfinished) }

  /// Whether each key event is an input by itself.
  var isPlain: Bool { devices.allSatisfy(\.isPlain) }

  /// Key events of one device, as a batch.
  mutating func batch(_ events: [KeyEvent], of device: Int) -> RecordedBatch {
    last = events.last?.time ?? last
    return .keys(numbering.id(device), events)
  }

  /// The index of a device, which is added if it is new.
  private mutating func grown(to device: Int) -> Int {
    while devices.count <= device { devices.append(DeviceEvents(numbering.id(devices.count))) }
    return device
  }
}
