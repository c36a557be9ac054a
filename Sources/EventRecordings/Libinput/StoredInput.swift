import KeyboardModes

/// A record of a stored ``RecordedInput``: its first record, or one of the keys that follow it.
struct StoredInput {
  static let size = MemoryLayout<StoredInput>.size

  private enum Kind: UInt16 {
    case held, key, missedRelease, synchronized, gone, member
  }

  private let kind: UInt16
  private let code: UInt16
  private let value: Int32
  private let time: Int64

  /// The number of records of keys that follow.
  let count: Int64

  private init(_ kind: Kind, _ time: Time?, code: UInt16 = 0, value: Int32 = 0, count: Int = 0) {
    self.kind = kind.rawValue
    self.code = code
    self.value = value
    self.time = time?.microseconds ?? .min
    self.count = Int64(count)
  }

  /// The records of `next`.
  static func records(of next: RecordedInput) -> [StoredInput] {
    switch next.input {
    case .opened(_, let held):
      [StoredInput(.held, next.time, count: held.count)]
        + held.map { StoredInput(.member, nil, code: $0.number) }
    case .key(_, let event):
      [StoredInput(.key, event.time, code: event.key.number, value: event.action.rawValue)]
    case .missedRelease(_, let key, let time):
      [StoredInput(.missedRelease, time, code: key.number)]
    case .synchronized(_, let found, let time):
      [StoredInput(.synchronized, time, count: found.count)]
        + found.map { StoredInput(.member, nil, code: $0.key.number, value: $0.isDown ? 1 : 0) }
    case .gone(_, let time): [StoredInput(.gone, time)]
    case .allOpened, .client, .configured: []  // not in any recording
    }
  }

  /// The input that this record and those of its keys describe; `nil` if they are invalid.
  func input(of device: DeviceID, _ keys: [StoredInput]) -> RecordedInput? {
    let recorded = time == .min ? nil : Time(microseconds: time)
    let at = Time(microseconds: time)
    switch Kind(rawValue: kind) {
    case .held:
      return RecordedInput(time: recorded, input: .opened(device, held: keys.compactMap(\.key)))
    case .key:
      guard let key, let action = KeyEvent.Action(rawValue: value) else { return nil }
      return RecordedInput(device, KeyEvent(time: at, key: key, action: action))
    case .missedRelease:
      return key.map { RecordedInput(time: at, input: .missedRelease(device, $0, at: at)) }
    case .synchronized:
      let found = keys.compactMap { stored in
        stored.key.map { KeyDifference(key: $0, isDown: stored.value != 0) }
      }
      return RecordedInput(time: at, input: .synchronized(device, found, at: at))
    case .gone: return RecordedInput(time: at, input: .gone(device, at: at))
    case .member, nil: return nil
    }
  }

  private var key: KeyCode? { KeyCode(code) }
}
