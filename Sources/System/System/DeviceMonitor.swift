import CLinux
import Glibc

/// A device as udev describes it.
public struct UdevDevice {
  /// The device node, such as `/dev/input/event3`.
  public let node: String
  fileprivate let handle: OpaquePointer

  /// The value of a property that udev's rules gave the device, such as `ID_INPUT_KEYBOARD`.
  public func property(_ name: String) -> String? {
    var value: UnsafePointer<CChar>?
    guard sd_device_get_property_value(handle, name, &value) >= 0, let value else { return nil }
    return String(cString: value)
  }

  /// The device of `handle`; `nil` if it has no node.
  fileprivate init?(_ handle: OpaquePointer) {
    var node: UnsafePointer<CChar>?
    guard sd_device_get_devname(handle, &node) >= 0, let node else { return nil }
    self.handle = handle
    self.node = String(cString: node)
  }
}

/// Reports that input devices appeared, changed or went, once udev has applied its rules to them.
///
/// A report names no device, because the kernel drops udev's messages if they are not read in time.
/// The kernel drops messages only while others are queued, so a report follows every loss.
public final class DeviceMonitor {
  private let monitor: OpaquePointer
  private let changed: () -> Void

  /// Calls `changed` from the loop. Make the monitor before calling ``forEachPresent(_:)``, or a
  /// device may be missed in between.
  ///
  /// - Throws: if libsystemd cannot create or start its device monitor.
  public init(_ loop: EventLoop, changed: @escaping () -> Void) throws(SystemError) {
    let operation = "watch for devices"
    var monitor: OpaquePointer?
    try checked(operation, sd_device_monitor_new(&monitor))
    guard let monitor else { throw SystemError(operation, code: ENOMEM) }
    (self.monitor, self.changed) = (monitor, changed)
    try checked(
      operation, sd_device_monitor_filter_add_match_subsystem_devtype(monitor, "input", nil))
    try checked(operation, sd_device_monitor_attach_event(monitor, loop.handle))
    // Unretained: `deinit` stops the monitor, so the object outlives every call.
    try checked(
      operation,
      sd_device_monitor_start(
        monitor,
        { _, _, context in
          guard let context else { return 0 }
          Unmanaged<DeviceMonitor>.fromOpaque(context).takeUnretainedValue().changed()
          return 0
        }, Unmanaged.passUnretained(self).toOpaque()))
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
    try checked("list devices", sd_device_enumerator_add_match_sysname(enumerator, "event*"))
    var device = sd_device_enumerator_get_device_first(enumerator)
    while let current = device {
      if let node = UdevDevice(current) { body(node) }
      device = sd_device_enumerator_get_device_next(enumerator)
    }
  }
}
