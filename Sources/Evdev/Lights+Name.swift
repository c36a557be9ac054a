internal import CLibevdev
public import KeyboardModes

extension Lights {
  /// The light of this name, as in the kernel's header (`LED_CAPSL`), or `nil`.
  public init?(name: String) {
    guard let number = Self.names.first(where: { $0.name == name })?.number else { return nil }
    self.init(number: number)
  }

  /// The names of all lights that the kernel's header had when libevdev was built.
  public static var allNames: [String] { names.map(\.name) }

  /// The last number has a name too, but is no light: it tells how many there can be.
  private static let names: [(number: UInt16, name: String)] =
    (0..<UInt16(LED_MAX)).compactMap { number in
      eventCodeName(UInt16(EV_LED), number).map { (number, $0) }
    }
}
