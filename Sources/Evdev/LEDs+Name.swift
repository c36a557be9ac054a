import CLibevdev
public import KeyboardModes

extension LEDs {
  /// The LED of this name, as in the kernel's header (`LED_CAPSL`), or `nil`.
  public init?(name: String) {
    guard let number = Self.names.first(where: { $0.name == name })?.number else { return nil }
    self.init(number: number)
  }

  /// The names of these LEDs.
  public var names: [String] { Self.names.filter { contains(LEDs(number: $0.number)) }.map(\.name) }

  /// The names of all LEDs that the kernel's header had when libevdev was built.
  public static var allNames: [String] { names.map(\.name) }

  /// Excludes `LED_MAX`, which has a name too, but is the limit and not an LED.
  private static let names: [(number: UInt16, name: String)] =
    (0..<UInt16(LED_MAX)).compactMap { number in
      eventCodeName(UInt16(EV_LED), number).map { (number, $0) }
    }
}
