import CLibevdev
import Glibc
public import KeyboardModes
public import System
import Terminal

/// An open evdev node. It delivers events of keys, all or only some, and events of lock LEDs.
///
/// The device is not grabbed: other programs receive every key event too.
public final class InputDevice {
  /// The result of reading from the device.
  public enum Reading: Equatable {
    /// A key event.
    case key(KeyEvent)
    /// A lock LED went on or off, or was set again.
    case led(LEDReport, at: Time)
    /// The kernel's buffer overflowed (`SYN_DROPPED`). Meanwhile the states of these keys changed.
    case synchronized([KeyDifference], at: Time)
    /// The end of a frame (`SYN_REPORT`).
    case frameEnd
    /// There is nothing more to read now.
    case drained
    /// The device was removed.
    case gone
  }

  private let file: FileDescriptor
  let device: OpaquePointer
  /// The path at which the device was opened.
  public let path: String
  /// The number of the device node, which is the same by whatever path it is reached, and unique
  /// among the devices that are present.
  let number: dev_t

  /// The key codes that the kernel delivers.
  private var delivered = 0..<KeyCode.max + 1

  /// Whether the frame that is being read has a key event already.
  private var frameHasKey = false

  /// `known` has the lock LEDs of the device; `on` has the LEDs that were last reported as on.
  public private(set) var lockLEDs = LEDReport()

  /// A second descriptor, to ask the kernel which keys are down; opened when first needed.
  private var queryDescriptor: FileDescriptor?

  /// Opens the device at `path`. Throws if it cannot be opened or is not an evdev node.
  public init(path: String) throws(SystemError) {
    let file = try FileDescriptor.opening(path, flags: O_RDONLY | O_NONBLOCK)
    // Setting the clock flushes the kernel's buffer. Do it before libevdev reads which keys are
    // down; otherwise a press in between would be lost.
    try InputDevice.checkCall(path, keymoded_stamp_with_boottime(file.number))
    try InputDevice.checkCall(
      path, keymoded_deliver_types(file.number, 1 << UInt(EV_KEY) | 1 << UInt(EV_LED)))
    let locks = Lock.allCases.reduce(into: LEDs()) { $0.formUnion($1.led) }
    try InputDevice.checkCall(path, keymoded_deliver_leds(file.number, UInt(locks.rawValue)))
    keymoded_silence_libevdev()
    var device: OpaquePointer?
    try InputDevice.checkCall(path, libevdev_new_from_fd(file.number, &device))
    guard let device else { throw SystemError("follow", path, code: ENOMEM) }
    self.device = device
    self.path = path
    number = InputDevice.number(ofDevice: file.number)
    lockLEDs = LEDReport(LEDs(of: device).intersection(locks))
    lockLEDs.on = lockLEDs.known.intersection(
      LEDs(of: device) { libevdev_get_event_value(device, UInt32(EV_LED), $0) != 0 })
    self.file = file
  }

  deinit { libevdev_free(device) }

  /// Has the kernel deliver only these codes from now on: other keys do not wake the reader, and
  /// are never reported as down. Call this before anything is read.
  ///
  /// ``next(after:)`` does not return earlier events, but ``keysDown`` includes their keys.
  public func deliver(only codes: Range<UInt16>) throws(SystemError) {
    let (first, end) = (UInt32(codes.lowerBound), UInt32(codes.upperBound))
    try InputDevice.checkCall(path, keymoded_deliver_keys(file.number, first, end))
    delivered = codes
    // Since the device was opened, other codes may have been queued.
    while true {
      switch try next() {
      case .drained, .gone: return
      case .key, .led, .synchronized, .frameEnd: continue
      }
    }
  }

  /// The descriptor to wait on for reading.
  public var descriptor: Int32 { file.number }

  /// The name that the device reports.
  public var name: String { String(cString: libevdev_get_name(device)) }

  /// The device's vendor number in `struct input_id` of `linux/input.h`.
  public var vendor: UInt16 { UInt16(truncatingIfNeeded: libevdev_get_id_vendor(device)) }

  /// The device's product number in `struct input_id` of `linux/input.h`.
  public var product: UInt16 { UInt16(truncatingIfNeeded: libevdev_get_id_product(device)) }

  /// Whether it is the virtual keyboard that presses Shift for the user.
  var isVirtualShift: Bool {
    VirtualShift.matches(bus: bus, vendor: vendor, product: product)
  }

  /// The bus of the device, a `BUS_*` of `linux/input.h`.
  var bus: UInt16 { UInt16(truncatingIfNeeded: libevdev_get_id_bustype(device)) }

  /// A text that all nodes of one physical device share, and no node of another; `nil` if the
  /// device does not report one, like most devices of uinput.
  ///
  /// The text is the port without the node's number, such as `usb-0000:00:14.0-3/input`, and the
  /// serial number or address, because all Bluetooth keyboards have the same port.
  var parent: String? {
    let port = libevdev_get_phys(device).map { String(cString: $0) } ?? ""
    let unique = libevdev_get_uniq(device).map { String(cString: $0) } ?? ""
    let end =
      port.lastIndex { !"0123456789".contains($0) }.map(port.index(after:)) ?? port.startIndex
    if end < port.endIndex, port[..<end].hasSuffix("/input") { return "\(port[..<end]) \(unique)" }
    return unique.isEmpty ? nil : "\(port) \(unique)"
  }

  /// The LEDs that the device has.
  public var leds: LEDs { LEDs(of: device) }

  /// Whether the device was removed, even if ``next(after:)`` has not yet returned
  /// ``Reading/gone``.
  public var isGone: Bool {
    var entry = pollfd(fd: file.number, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
  }

  /// The delivered keys that are down after the events read so far.
  public var keysDown: [KeyCode] {
    delivered.compactMap(KeyCode.init).filter { key in
      libevdev_get_event_value(device, UInt32(EV_KEY), UInt32(key.number)) != 0
    }
  }

  /// Reads the next event, without waiting. Throws if that fails, but not if the device is gone.
  ///
  /// If a time stamp is ahead of the clock, as in another time namespace, the event gets the
  /// present time.
  ///
  /// - Parameter past: a time that has come. The clock is read only for events after this time.
  public func next(
    after past: Time = Time(microseconds: .min)
  ) throws(SystemError) -> Reading {
    func time(of event: input_event) -> Time {
      let stamp = Time(event)
      return stamp <= past ? stamp : min(stamp, Keyboards.now)
    }
    var event = input_event()
    while true {
      let status = libevdev_next_event(device, UInt32(LIBEVDEV_READ_FLAG_NORMAL.rawValue), &event)
      switch status {
      case Int32(LIBEVDEV_READ_STATUS_SYNC.rawValue):
        let time = time(of: event)
        frameHasKey = false
        return .synchronized(synchronize(), at: time)
      case Int32(LIBEVDEV_READ_STATUS_SUCCESS.rawValue):
        if event.type == EV_SYN && event.code == SYN_REPORT {
          frameHasKey = false
          return .frameEnd
        }
        if event.type == EV_LED { return .led(updateLEDs(by: event), at: time(of: event)) }
        // Key events with a value that the kernel does not define are ignored, as in recordings.
        guard event.type == EV_KEY, let key = KeyCode(event.code),
          let action = KeyEvent.Action(rawValue: event.value)
        else { continue }
        defer { frameHasKey = true }
        return .key(
          KeyEvent(time: time(of: event), key: key, action: action, continuesFrame: frameHasKey))
      case -EAGAIN: return .drained
      case -ENODEV: return .gone
      case -EINTR: continue
      default: throw SystemError("read", path, code: -status)
      }
    }
  }

  private func updateLEDs(by event: input_event) -> LEDReport {
    let led = LEDs(number: event.code)
    let report = LEDReport(led, on: event.value != 0 ? led : [])
    lockLEDs.update(by: report)
    return report
  }

  /// Asks the kernel which lock LEDs are on, because a grab by another program hides their events.
  /// Returns the LEDs that differ from ``lockLEDs``; `nil` if no LED differs, if the kernel cannot
  /// be asked, or if there are unread events.
  ///
  /// When asked, the kernel drops unread events of LEDs. Its answer includes their changes.
  public func changedLEDs() -> LEDReport? {
    guard !lockLEDs.known.isEmpty, libevdev_has_event_pending(device) == 0 else { return nil }
    var bits: UInt16 = 0
    guard keymoded_leds_on(file.number, &bits) == 0 else { return nil }
    let on = LEDs(rawValue: bits).intersection(lockLEDs.known)
    let changed = on.symmetricDifference(lockLEDs.on)
    guard !changed.isEmpty else { return nil }
    lockLEDs.on = on
    return LEDReport(changed, on: on.intersection(changed))
  }

  private func synchronize() -> [KeyDifference] {
    var differences: [KeyDifference] = []
    var event = input_event()
    let flag = UInt32(LIBEVDEV_READ_FLAG_SYNC.rawValue)
    while libevdev_next_event(device, flag, &event) == LIBEVDEV_READ_STATUS_SYNC.rawValue {
      // libevdev asks the kernel for all keys, also for keys that are not delivered.
      guard event.type == EV_KEY, delivered.contains(event.code), let key = KeyCode(event.code)
      else { continue }
      differences.append(KeyDifference(key: key, isDown: event.value != 0))
    }
    return differences
  }

  /// The keys among `keys` that the kernel reports as up now, although no unread event releases
  /// them. Empty if there are unread events, or if the kernel cannot be asked.
  public func keysUp(among keys: [KeyCode]) -> [KeyCode] {
    // `EVIOCGKEY` on the descriptor that is read from would flush its unread key events.
    guard let queryDescriptor = openQueryDescriptor() else { return [] }
    var bits = [UInt8](repeating: 0, count: Int(KeyCode.max) / 8 + 1)
    guard keymoded_keys_down(queryDescriptor, &bits, UInt32(bits.count)) == 0 else { return [] }
    // Checked last: events from before the kernel's answer are pending by now.
    guard libevdev_has_event_pending(device) == 0 else { return [] }
    let up = keys.filter { bits[Int($0.number / 8)] & (1 << ($0.number % 8)) == 0 }
    // libevdev has not seen these releases. If such a key is pressed during a loss of events,
    // libevdev would otherwise miss the press, because for libevdev the key is still down.
    for key in up { libevdev_set_event_value(device, UInt32(EV_KEY), UInt32(key.number), 0) }
    return up
  }

  /// Opens the second descriptor that ``keysUp(among:)`` needs. Later, this process may have no
  /// descriptor left, or may not be allowed to open the device.
  public func prepareQueries() { _ = openQueryDescriptor() }

  private func openQueryDescriptor() -> Int32? {
    if queryDescriptor == nil { queryDescriptor = try? openAgain(O_RDONLY) }
    return queryDescriptor?.number
  }

  /// Opens another descriptor of the device, with all events masked: they do not wake the reader
  /// and take no room in the kernel's buffer. Only `EV_SYN` cannot be masked.
  ///
  /// - Throws: `SystemError`; with the code `ESTALE` if the path leads to another device by now.
  func openAgain(_ access: Int32) throws(SystemError) -> FileDescriptor {
    let opened = try FileDescriptor.opening(path, flags: access | O_NONBLOCK)
    guard InputDevice.number(ofDevice: opened.number) == number, !isGone else {
      throw SystemError("open", path, code: ESTALE)
    }
    try InputDevice.checkCall(path, keymoded_deliver_types(opened.number, 0))
    return opened
  }

  private static func number(ofDevice descriptor: Int32) -> dev_t {
    // `fstat` cannot fail for an open descriptor.
    var status = stat()
    fstat(descriptor, &status)
    return status.st_rdev
  }

  private static func checkCall(_ path: String, _ result: Int32) throws(SystemError) {
    guard result < 0 else { return }
    // Files that are not evdev nodes, such as a terminal, reject evdev's ioctls with `ENOTTY`,
    // whose message, "Inappropriate ioctl for device", helps only programmers.
    throw SystemError(
      "follow", path, code: -result, reason: result == -ENOTTY ? "not an input device" : nil)
  }
}

extension LEDs {
  /// The LEDs of a device for which `isIncluded` is true.
  fileprivate init(of device: OpaquePointer, where isIncluded: (UInt32) -> Bool = { _ in true }) {
    let numbers = (0..<UInt32(LED_MAX)).filter {
      libevdev_has_event_code(device, UInt32(EV_LED), $0) == 1 && isIncluded($0)
    }
    self = numbers.reduce(into: []) { $0.formUnion(LEDs(number: UInt16($1))) }
  }
}

extension Time {
  fileprivate init(_ event: input_event) {
    var event = event
    self.init(microseconds: keymoded_microseconds(&event))
  }
}
