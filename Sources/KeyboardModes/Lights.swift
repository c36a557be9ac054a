/// A set of keyboard LEDs, such as the Caps Lock LED.
public struct Lights: OptionSet, Hashable, Sendable {
  /// One bit for each LED, at the position of its number.
  public let rawValue: UInt16

  /// The LEDs whose bits are set in `rawValue`.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The LED with this number, an `LED_*` of the kernel's `linux/input-event-codes.h`; empty if the
  /// number is out of range.
  public init(number: UInt16) { rawValue = number < UInt16.bitWidth ? 1 << number : 0 }

  /// The numbers of the LEDs, in ascending order.
  public var numbers: [UInt16] {
    (0..<UInt16(UInt16.bitWidth)).filter { rawValue & (1 << $0) != 0 }
  }
}

/// The LEDs that show each state.
///
/// The two machines share no state name, so a name identifies a state.
public struct LightRules: Hashable, Sendable {
  private let lights: [String: Lights]

  /// The LEDs that show any state. All others belong to other programs.
  public let used: Lights

  /// Rules that keep these LEDs on while a machine is in the state of that name.
  public init(_ lights: [String: Lights] = [:]) {
    self.lights = lights
    used = lights.values.reduce(into: []) { $0.formUnion($1) }
  }

  /// The LEDs that are on in these states; the rest of ``used`` are off.
  public func lit(in modes: Modes) -> Lights {
    (lights[modes.shift] ?? []).union(lights[modes.keyboard] ?? [])
  }
}
