import CLibevdev
import Glibc
public import KeyboardModes
public import SystemCalls

/// Sets the LEDs of an evdev node, through a second descriptor that is open for writing.
///
/// The descriptor that keys are read from is not reopened, so that no key is lost when LEDs come
/// into use or go out of use. On both descriptors, LED events are masked.
public final class LEDSwitch {
  private let descriptor: FileDescriptor
  private let device: OpaquePointer
  private let path: String
  private let all: LEDs
  /// The LEDs that this object has switched on.
  private var on: LEDs = []
  /// The LEDs that this object has set, on or off, and that have been in use since.
  private var known: LEDs = []

  /// Opens the node of a device that is followed. Throws if the node cannot be opened for writing, or
  /// is no longer that device's.
  public init(of followed: InputDevice) throws(SystemError) {
    let path = followed.path
    let number: Int32
    do throws(SystemError) {
      descriptor = try FileDescriptor.opening(path, flags: O_WRONLY | O_NONBLOCK)
      number = descriptor.number
    } catch {
      throw SystemError("write", path, code: error.code)
    }
    // The path may lead to a different device by now.
    let isSame =
      try InputDevice.deviceNumber(number, path)
      == InputDevice.deviceNumber(followed.fileDescriptor, path)
    guard isSame, !followed.isGone else { throw SystemError("write", path, code: ESTALE) }
    try InputDevice.deliver(types: 0, to: number, path)
    var device: OpaquePointer?
    try InputDevice.check("write", path, libevdev_new_from_fd(number, &device))
    guard let device else { throw SystemError("write", path, code: ENOMEM) }
    self.device = device
    self.path = path
    all = followed.leds
  }

  deinit { libevdev_free(device) }

  /// Switches the LEDs by `order`, and those off that this object switched on and that are no longer
  /// in use.
  ///
  /// Writes only the LEDs that changed, or that come into use. Throws if an LED cannot be written.
  public func show(_ order: LEDOrder) throws(SystemError) {
    let used = order.used.intersection(all)
    let on = order.on.intersection(used)
    let changed = on.symmetricDifference(self.on).union(used.subtracting(known))
    for number in changed.numbers {
      let led = LEDs(number: number)
      let isOn = on.contains(led)
      try write(number, isOn ? LIBEVDEV_LED_ON : LIBEVDEV_LED_OFF)
      known.formUnion(led)
      if isOn { self.on.formUnion(led) } else { self.on.subtract(led) }
    }
    // Another program may switch an LED while it is not in use, so its state is not known then.
    known.formIntersection(used)
  }

  private func write(_ number: UInt16, _ value: libevdev_led_value) throws(SystemError) {
    var result: Int32
    repeat {
      result = libevdev_kernel_set_led_value(device, UInt32(number), value)
    } while result == -EINTR
    try InputDevice.check("write", path, result)
  }
}
