import CLinux
import Glibc

/// A keyboard of `/dev/uinput` that has left Shift, Caps Lock, and the LEDs of Num Lock and Caps
/// Lock: nothing else can be typed on it.
///
/// The keyboard lasts as long as this object. However the process ends, the kernel releases keys.
public final class VirtualKeyboard {
  private let device: FileDescriptor

  /// Makes the keyboard, through standard output if that is `/dev/uinput`: so a service manager can
  /// pass the device to a program that may not open it.
  ///
  /// - Throws: the error of `open` or `ioctl`.
  public init(
    bus: UInt16, vendor: UInt16, product: UInt16, name: String
  ) throws(SystemError) {
    device = try Self.open()
    try checked(
      "make a virtual keyboard",
      keymoded_make_keyboard(device.number, bus, vendor, product, name))
  }

  private static func open() throws(SystemError) -> FileDescriptor {
    var status = stat()
    // The major number of misc devices and the minor one of uinput; see the kernel's devices.txt.
    let uinput = dev_t(10 << 8 | 223)
    if fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFCHR,
      status.st_rdev == uinput
    {
      return FileDescriptor(owning: STDOUT_FILENO)
    }
    return try .opening("/dev/uinput", flags: O_WRONLY)
  }

  /// Presses or releases left Shift.
  public func setShift(isDown: Bool) throws(SystemError) { try send(KEY_LEFTSHIFT, isDown) }

  /// Presses and releases Caps Lock.
  public func tapCapsLock() throws(SystemError) {
    for isDown in [true, false] { try send(KEY_CAPSLOCK, isDown) }
  }

  private func send(_ key: Int32, _ isDown: Bool) throws(SystemError) {
    try checked("type", keymoded_send_key(device.number, UInt16(key), isDown ? 1 : 0))
  }
}
