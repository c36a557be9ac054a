public import StateMachines

/// The rules of a lock, such as Caps Lock. Its state is what the LEDs of the keyboards show.
///
/// |         | ledOn   | ledOff  | ledGone |
/// | ------- | ------- | ------- | ------- |
/// | unknown | on      | off     | ignored |
/// | off     | on      | ignored | unknown |
/// | on      | ignored | off     | unknown |
public struct LockRules: DrawableRules, Hashable {
  /// Whether the lock is on.
  public enum State: String, CaseIterable, Sendable {
    /// No keyboard has the LED, the LED changes too fast, or the settings do not follow the lock.
    case unknown
    /// Keyboards have the LED, and all these LEDs are off.
    case off
    /// A keyboard has the LED on.
    case on
  }

  /// What the LEDs of all keyboards show together.
  public enum Event: String, CaseIterable, Sendable {
    /// A keyboard has the LED on.
    case ledOn
    /// Keyboards have the LED, and all these LEDs are off.
    case ledOff
    /// No keyboard has the LED, the LED changes too fast, or the settings do not follow the lock.
    case ledGone
  }

  /// The rules, which have no settings.
  public init() {}

  /// `unknown`.
  public var initial: State { .unknown }

  /// The table above.
  public func next(_ state: State, on event: Event) -> State? {
    let next: State =
      switch event {
      case .ledOn: .on
      case .ledOff: .off
      case .ledGone: .unknown
      }
    return next == state ? nil : next
  }
}

/// A lock of the keyboard. One sequence numbers the changes of locks and of all other machines.
public enum Lock: CaseIterable, Sendable {
  /// Caps Lock.
  case caps
  /// Num Lock.
  case num

  /// The LED of the lock, by its number in the kernel's `linux/input-event-codes.h`.
  public var led: LEDs {
    switch self {
    case .caps: LEDs(number: 1)
    case .num: LEDs(number: 0)
    }
  }

  /// The machine that has the state of the lock.
  public var machine: MachineName {
    switch self {
    case .caps: .caps
    case .num: .num
    }
  }
}
