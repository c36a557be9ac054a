import CLinux
import Glibc
public import Terminal

/// A device as udev describes it.
public struct UdevDevice {
  /// The device node, such as `/dev/input/event3`.
  public let node: String
  fileprivate let handle: OpaquePointer

  /// The value of a property that udev's rules gave it, such as `ID_INPUT_KEYBOARD`.
  public func property(_ name: String) -> String? {
    var value: UnsafePointer<CChar>?
    guard sd_device_get_property_value(handle, name, &value) >= 0, let value else { return nil }
    return String(cString: value)
  }

  /// The device of `handle`; `nil` if it is not an evdev node.
  fileprivate init?(eventNode handle: OpaquePointer) {
    var name: UnsafePointer<CChar>?
    var node: UnsafePointer<CChar>?
    guard sd_device_get_sysname(handle, &name) >= 0, let name,
      String(cString: name).hasPrefix("event"),
      sd_device_get_devname(handle, &node) >= 0, let node
    else { return nil }
    self.handle = handle
    self.node = String(cString: node)
  }
}

/// Reports evdev nodes that appear, once udev has applied its rules to them.
///
/// The kernel queues about a hundred of udev's messages for a process that does not read them, and
/// drops the rest. libsystemd does not report this, so the monitor asks the kernel how many were
/// dropped, and then enumerates all devices again.
public final class DeviceMonitor {
  private let monitor: OpaquePointer
  private let appeared: (UdevDevice) -> Void
  private var lost: Int64 = 0
  private var lookAgain: EventSource?

  /// Calls `appeared`, from the loop, for each evdev node that appears or changes, and, after a
  /// loss of messages, for each one that is present.
  ///
  /// Make the monitor before calling ``forEachPresent(_:)``, or a device may be missed in between.
  ///
  /// - Throws: if libsystemd cannot create or start its device monitor.
  public init(_ loop: EventLoop, appeared: @escaping (UdevDevice) -> Void) throws(SystemError) {
    let operation = "watch for devices"
    var monitor: OpaquePointer?
    try checked(operation, sd_device_monitor_new(&monitor))
    guard let monitor else { throw SystemError(operation, code: ENOMEM) }
    self.monitor = monitor
    self.appeared = appeared
    try checked(
      operation, sd_device_monitor_filter_add_match_subsystem_devtype(monitor, "input", nil))
    try checked(operation, sd_device_monitor_attach_event(monitor, loop.handle))
    // Unretained: `deinit` stops the monitor, so the object outlives every call.
    try checked(
      operation,
      sd_device_monitor_start(
        monitor,
        { _, device, context in
          guard let device, let context else { return 0 }
          let monitor = Unmanaged<DeviceMonitor>.fromOpaque(context).takeUnretainedValue()
          monitor.checkForLosses()
          var action = SD_DEVICE_ADD
          // Reading an open device tells sooner of its removal.
          guard sd_device_get_action(device, &action) >= 0, action != SD_DEVICE_REMOVE,
            let device = UdevDevice(eventNode: device)
          else { return 0 }
          monitor.appeared(device)
          return 0
        }, Unmanaged.passUnretained(self).toOpaque()))
    // Unowned: the source is this object's own, and ends with it.
    lookAgain = try loop.addDeferred { [unowned self] in
      // If this fails, the next loss of messages starts another try.
      try? forEachPresent(self.appeared)
    }
    // More messages may be lost until those in the queue have been read, so enumerate only then.
    lookAgain?.setPriority(.last)
  }

  /// Called for each message. The kernel drops messages only while others are queued, so at least
  /// one is read after every loss.
  private func checkForLosses() {
    let source = sd_device_monitor_get_event_source(monitor)
    let count = keymoded_lost_messages(sd_event_source_get_io_fd(source))
    guard count >= 0, count != lost else { return }
    lost = count
    lookAgain?.callSoon()
  }

  deinit {
    sd_device_monitor_stop(monitor)
    sd_device_monitor_unref(monitor)
  }

  /// Calls `body` for each evdev node that is present now. Throws if devices cannot be enumerated.
  public func forEachPresent(_ body: (UdevDevice) -> Void) throws(SystemError) {
    var enumerator: OpaquePointer?
    try checked("list devices", sd_device_enumerator_new(&enumerator))
    defer { sd_device_enumerator_unref(enumerator) }
    try checked("list devices", sd_device_enumerator_add_match_subsystem(enumerator, "input", 1))
    var device = sd_device_enumerator_get_device_first(enumerator)
    while let current = device {
      if let node = UdevDevice(eventNode: current) { body(node) }
      device = sd_device_enumerator_get_device_next(enumerator)
    }
  }
}
