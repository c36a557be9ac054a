import KeyboardModes

/// Turns the entries of one file into inputs of the controller.
struct EntryInterpreter {
  private let file: Int
  private let fileCount: Int
  /// Whether the recording may have several devices. If not, `TwinKeys` has nothing to do.
  private let hasSeveralDevices: Bool
  private var devices: [DeviceState] = []
  /// The time of the last key or LED event, if there was one.
  private var lastTime: Time?

  /// The interpreter of the file with this index. The device numbers of the files interleave, so
  /// that each number belongs to one file.
  init(file: Int, of fileCount: Int, _ format: RecordingFormat) {
    self.file = file
    self.fileCount = fileCount
    hasSeveralDevices = fileCount > 1 || format == .libinput || format == .getevent
  }

  /// Whether a report of differences has begun and not ended. Without its end, the report is lost.
  var isUnfinished: Bool { devices.contains { $0.differences != nil } }

  /// The input that `entry` completes, if any.
  @inline(__always)
  mutating func interpret(_ entry: Entry) throws(LineError) -> Controller.Input? {
    switch entry {
    case .event(let event): return try interpret(event)
    case .held(let keys, let device):
      let held = devices[index(of: device)].isVirtualShift ? [] : keys
      return .opened(id(device), held: held)
    case .leds(let report, let device):
      return .leds(id(device), report, at: nil)
    case .ids(let ids, let device):
      devices[index(of: device)].isVirtualShift = ids?.isVirtualShift == true
      setParent(of: device, to: ids.map(Self.parent) ?? Self.parentOfUndescribed)
      return nil
    case .parent(let number, let device):
      setParent(of: index(of: device), to: -2 - (Int(number) * fileCount + file))
      return nil
    case .lost(let device):
      devices[index(of: device)].differences = []
      return nil
    case .missed(let device):
      devices[index(of: device)].isMissed = true
      return nil
    case .gone(let device, let time):
      // Before any key or LED event, the removal of a device changes nothing.
      return (time ?? lastTime).map { .gone(id(device), at: $0) }
    }
  }

  @inline(__always)
  private mutating func interpret(_ event: InputEvent) throws(LineError) -> Controller.Input? {
    let device = index(of: event.device)
    switch (event.type, event.code) {
    case (InputEvent.key, _):
      lastTime = event.time
      return try devices[device].interpret(event)
    case (InputEvent.synchronization, InputEvent.dropped):
      devices[device].isSkipping = true
      return nil
    case (InputEvent.synchronization, InputEvent.report):
      return devices[device].endReport(at: event.time)
    case (InputEvent.led, _):
      guard let report = LEDReport(number: event.code, value: event.value),
        !devices[device].isSkipping
      else { return nil }
      lastTime = event.time
      return .leds(id(device), report, at: event.time)
    default: return nil
    }
  }

  private mutating func id(_ device: Int) -> DeviceID { devices[index(of: device)].id }

  /// The index of this device in `devices`; adds devices up to it.
  @inline(__always)
  private mutating func index(of device: Int) -> Int {
    while devices.count <= device { addDevice() }
    return device
  }

  @inline(never)
  private mutating func addDevice() {
    devices.append(DeviceState(id: DeviceID(order: devices.count * fileCount + file)))
    setParent(of: devices.count - 1, to: Self.parentOfUndescribed)
  }

  // A recording of another program does not tell which devices are nodes of one keyboard. So
  // devices with the same ids count as such nodes, even in several files. All devices without a
  // description count as such nodes, too.

  private static let parentOfUndescribed = -1

  private static func parent(_ ids: HardwareIDs) -> Int {
    Int(ids.bus) << 32 | Int(ids.vendor) << 16 | Int(ids.product)
  }

  private mutating func setParent(of device: Int, to parent: Int) {
    devices[device].id = DeviceID(
      order: devices[device].id.order, parent: hasSeveralDevices ? parent : nil)
  }
}

/// The state that a device's earlier events leave for its next events.
private struct DeviceState {
  fileprivate(set) var id: DeviceID

  /// Whether events are ignored: after `SYN_DROPPED`, until the next report begins.
  var isSkipping = false

  /// The differences so far, in the report after a loss of events; otherwise `nil`.
  var differences: [KeyDifference]?

  /// The time of the first difference.
  var differencesTime = Time(microseconds: 0)

  /// Whether the report is a release that a grab hid.
  var isMissed = false

  /// The time of the last key event, if the report has not ended since.
  var keyTime: Time?

  /// Whether the device's keys are ignored, because no person presses them.
  var isVirtualShift = false

  /// The input that the key event completes, if any.
  @inline(__always)
  mutating func interpret(_ event: InputEvent) throws(LineError) -> Controller.Input? {
    // A filter may have removed `SYN_REPORT`, so events with equal times are one report.
    let key = try KeyEvent(event, continuesFrame: keyTime == event.time)
    keyTime = event.time
    guard !isSkipping, !isVirtualShift else { return nil }
    if isMissed, key.action == .release {
      return .missedRelease(id, key.key, at: key.time)
    }
    guard let count = differences?.count else { return .key(id, key) }
    guard count <= KeyCode.max else {
      throw LineError("the report after a loss has more keys than exist")
    }
    if count == 0 { differencesTime = key.time }
    differences?.append(KeyDifference(key: key.key, isDown: key.action != .release))
    return nil
  }

  /// The input that the end of a report completes, if any.
  @inline(__always)
  mutating func endReport(at end: Time) -> Controller.Input? {
    (isSkipping, isMissed, keyTime) = (false, false, nil)
    guard let found = differences else { return nil }
    differences = nil
    return .synchronized(id, found, at: found.isEmpty ? end : differencesTime)
  }
}

extension KeyEvent {
  /// The key event of `event`, whose type is `EV_KEY`.
  fileprivate init(_ event: InputEvent, continuesFrame: Bool) throws(LineError) {
    guard let key = KeyCode(event.code) else {
      throw LineError("key code \(event.code) is above \(KeyCode.max)")
    }
    guard let action = KeyEvent.Action(rawValue: event.value) else {
      throw LineError("key value \(event.value) is not 0, 1 or 2")
    }
    self.init(time: event.time, key: key, action: action, continuesFrame: continuesFrame)
  }
}
