internal import CLibevdev
internal import Glibc
public import KeyboardModes
public import SystemCalls

/// The lights of an evdev node, which is opened a second time for them, for writing.
///
/// The descriptor that keys are read from stays as it is, so that lights can be used from now on, or
/// no more, without a key being lost. The kernel tells neither of the two of lights that change.
public final class LightSwitch {
  private let descriptor: FileDescriptor
  private let device: OpaquePointer
  private let path: String
  private let all: Lights
  /// What was switched on here.
  private var lit: Lights = []
  /// What was switched on or off here, and is known to be so.
  private var known: Lights = []

  /// Opens the node of a device that is followed.
  ///
  /// - Throws: where it may not be written, and where it is not that device's any more.
  public init(of followed: InputDevice) throws(SystemError) {
    let path = followed.path
    let number: Int32
    do throws(SystemError) {
      descriptor = try FileDescriptor.opening(path, flags: O_WRONLY | O_NONBLOCK)
      number = descriptor.number
    } catch {
      throw SystemError("write", path, code: error.code)
    }
    // The path may lead elsewhere by now.
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
    all = followed.lights
  }

  deinit { libevdev_free(device) }

  /// Has, of the lights that are `used`, those on that are in `lit`, and the others off. What was
  /// switched on here before, and is used no more, is switched off too.
  ///
  /// Only what is another is written.
  public func show(_ lit: Lights, of used: Lights) throws(SystemError) {
    let lit = lit.intersection(used).intersection(all)
    let used = used.intersection(all)
    let changed = lit.symmetricDifference(self.lit).union(used.subtracting(known))
    for number in changed.numbers {
      let light = Lights(number: number)
      let isOn = lit.contains(light)
      try write(number, isOn ? LIBEVDEV_LED_ON : LIBEVDEV_LED_OFF)
      known.formUnion(light)
      if isOn { self.lit.formUnion(light) } else { self.lit.subtract(light) }
    }
    // What is used again later may have been switched by others.
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
