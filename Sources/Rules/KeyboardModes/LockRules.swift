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
    /// No keyboard has the LED, or it changes too fast to tell.
    case unknown
    /// A keyboard has the LED, and none has it on.
    case off
    /// A keyboard has the LED on.
    case on
  }

  /// What the LEDs of all keyboards show together.
  public enum Event: String, CaseIterable, Sendable {
    /// A keyboard has the LED on.
    case ledOn
    /// A keyboard has the LED, and none has it on.
    case ledOff
    /// No keyboard has the LED any more, or it changes too fast to tell.
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

/// A lock of the keyboard. Its changes are numbered with those of the other machines.
public enum Lock: CaseIterable, Sendable {
  /// Caps Lock.
  case caps
  /// Num Lock.
  case num

  /// Its LED, by the number in the kernel's `linux/input-event-codes.h`.
  public var led: LEDs {
    switch self {
    case .caps: LEDs(number: 1)
    case .num: LEDs(number: 0)
    }
  }

  /// Its machine.
  public var machine: Machine {
    switch self {
    case .caps: .caps
    case .num: .num
    }
  }
}

/// The states of all locks.
public struct LockStates: Hashable, Sendable {
  private var caps = LockRules.State.unknown
  private var num = LockRules.State.unknown

  /// All locks `unknown`, or in these states.
  public init(caps: LockRules.State = .unknown, num: LockRules.State = .unknown) {
    (self.caps, self.num) = (caps, num)
  }

  /// The state of one lock.
  public subscript(lock: Lock) -> LockRules.State {
    get { lock == .caps ? caps : num }
    set { if lock == .caps { caps = newValue } else { num = newValue } }
  }
}
