internal import CLibsystemd
internal import Glibc
public import SystemCalls

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

  /// The device behind `handle`, where it is an evdev node.
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

/// Watches the evdev nodes come, through udev: when it tells of one, its rules have been applied.
///
/// The kernel keeps a hundred or so of udev's messages for a process that has no time to read them,
/// and forgets the others. libsystemd says nothing of it, so the monitor asks, and looks at all
/// devices again.
public final class DeviceMonitor {
  private let monitor: OpaquePointer
  private let appeared: (UdevDevice) -> Void
  private var lost: Int64 = 0
  private var lookAgain: EventSource?

  /// Calls `appeared`, from the loop, for each evdev node that appears or changes, and at times for
  /// one that does not.
  ///
  /// Make the monitor before calling ``forEachPresent(_:)``, so that no device is missed in between.
  public init(
    _ loop: EventLoop, appeared: @escaping (UdevDevice) -> Void
  ) throws(SystemError) {
    var monitor: OpaquePointer?
    try checked("watch for devices", sd_device_monitor_new(&monitor))
    guard let monitor else { throw SystemError("watch for devices", code: ENOMEM) }
    self.monitor = monitor
    self.appeared = appeared
    try checked(
      "watch for devices",
      sd_device_monitor_filter_add_match_subsystem_devtype(monitor, "input", nil))
    try checked("watch for devices", sd_device_monitor_attach_event(monitor, loop.handle))
    try checked(
      "watch for devices",
      sd_device_monitor_start(
        monitor,
        { _, device, context in
          guard let device, let context else { return 0 }
          let monitor = Unmanaged<DeviceMonitor>.fromOpaque(context).takeUnretainedValue()
          monitor.checkForLosses()
          var action = SD_DEVICE_ADD
          // Removal shows on the open device itself, and sooner.
          guard sd_device_get_action(device, &action) >= 0, action != SD_DEVICE_REMOVE,
            let device = UdevDevice(eventNode: device)
          else { return 0 }
          monitor.appeared(device)
          return 0
        }, Unmanaged.passUnretained(self).toOpaque()))
    lookAgain = try loop.addDeferred { [unowned self] in
      do throws(SystemError) {
        try forEachPresent(self.appeared)
      } catch {
        // The next message, or the next loss, is another chance.
      }
    }
    // Messages are lost until all that did not get lost were read, so before that it is too soon.
    lookAgain?.take(.last)
  }

  /// Whatever is lost, a message that was not is read after it.
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

  /// Calls `body` for each evdev node that is there now.
  public func forEachPresent(_ body: (UdevDevice) -> Void) throws(SystemError) {
    var enumerator: OpaquePointer?
    try checked("list devices", sd_device_enumerator_new(&enumerator))
    defer { sd_device_enumerator_unref(enumerator) }
    try checked(
      "list devices", sd_device_enumerator_add_match_subsystem(enumerator, "input", 1))
    var device = sd_device_enumerator_get_device_first(enumerator)
    while let current = device {
      if let node = UdevDevice(eventNode: current) { body(node) }
      device = sd_device_enumerator_get_device_next(enumerator)
    }
  }
}
