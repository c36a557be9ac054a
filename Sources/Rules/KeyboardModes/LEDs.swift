/// A set of keyboard LEDs, such as the Caps Lock LED.
public struct LEDs: OptionSet, Hashable, Sendable {
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
/// A state is named as in the configuration: a state of Shift or the keyboard by its own name, and
/// a state of another machine with its machine, such as `talk.open`. Locks have LEDs of their own.
public struct LEDRules: Hashable, Sendable {
  private let leds: [String: LEDs]

  /// The LEDs that show a state of any machine. All other LEDs belong to other programs.
  public let used: LEDs

  /// The name of a state of `machine`.
  public static func name(of state: String, of machine: MachineName) -> String {
    machine.prefix + state
  }

  /// Rules that keep the LEDs of each name on while a machine is in the state of that name.
  public init(_ leds: [String: LEDs] = [:]) {
    self.leds = leds
    used = leds.values.reduce(into: []) { $0.formUnion($1) }
  }

  /// The LEDs of the state of this name; `nil` if the rules do not name the state.
  public subscript(state: String) -> LEDs? { leds[state] }

  /// The LEDs that are on in these states; the rest of ``used`` are off.
  public func ledsOn(in states: States) -> LEDs {
    states.entries.reduce(into: []) { on, entry in
      guard !entry.machine.isLock else { return }
      on.formUnion(leds[Self.name(of: entry.state, of: entry.machine)] ?? [])
    }
  }
}

/// Which LEDs of a keyboard to switch on, and which off.
public struct LEDCommand: Hashable, Sendable {
  /// The LEDs that are to be on.
  public let on: LEDs
  /// The LEDs that show states; all of them that are not in ``on`` are to be off.
  public let used: LEDs

  /// A command that switches the LEDs in `on` on, and all other LEDs in `used` off.
  public init(_ on: LEDs = [], of used: LEDs = []) { (self.on, self.used) = (on, used) }
}
