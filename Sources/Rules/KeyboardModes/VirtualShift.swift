/// The properties that identify the virtual keyboard of `keymodectl shift`.
///
/// It has left Shift, Caps Lock, and the LEDs of Num Lock and Caps Lock. It is not a person's
/// keyboard: its keys mean nothing, but its LEDs show the locks on machines whose own keyboards
/// have no LEDs.
public enum VirtualShift {
  /// `BUS_VIRTUAL` of the kernel.
  public static let bus: UInt16 = 0x06
  /// No vendor has this number; it is `km` in ASCII.
  public static let vendor: UInt16 = 0x6b6d
  /// The vendor's number for the product; `sh` in ASCII.
  public static let product: UInt16 = 0x7368
  /// The name of the device.
  public static let name = "keymoded Shift"

  /// Whether a device with these numbers is the virtual keyboard.
  public static func matches(bus: UInt16, vendor: UInt16, product: UInt16) -> Bool {
    (bus, vendor, product) == (Self.bus, Self.vendor, Self.product)
  }
}
