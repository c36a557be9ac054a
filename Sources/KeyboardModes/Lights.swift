/// Lights of a keyboard, such as that of Caps Lock.
public struct Lights: OptionSet, Hashable, Sendable {
  /// A bit for each, at the place of its number.
  public let rawValue: UInt16

  /// The lights whose bits are set in `rawValue`.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The light with this number, an `LED_*` of the kernel's `linux/input-event-codes.h`; none where
  /// no light can have it.
  public init(number: UInt16) { rawValue = number < UInt16.bitWidth ? 1 << number : 0 }

  /// The numbers of the lights, in ascending order.
  public var numbers: [UInt16] {
    (0..<UInt16(UInt16.bitWidth)).filter { rawValue & (1 << $0) != 0 }
  }
}

/// Which lights of the keyboards tell of which states.
///
/// No state of one machine has the name of one of the other, so that a name is enough.
public struct LightRules: Hashable, Sendable {
  private let lights: [String: Lights]

  /// The lights that tell of any state. All others are somebody else's.
  public let used: Lights

  /// The rules by which each of these states, by its name, has these lights on for as long as it
  /// lasts.
  public init(_ lights: [String: Lights] = [:]) {
    self.lights = lights
    used = lights.values.reduce(into: []) { $0.formUnion($1) }
  }

  /// Which lights are on in these states; of those that are ``used``, all others are off.
  public func lit(in modes: Modes) -> Lights {
    (lights[modes.shift] ?? []).union(lights[modes.keyboard] ?? [])
  }
}
