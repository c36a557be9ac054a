import StateMachines

/// The Shift machine of a phone's keyboard.
///
/// |               | shiftPressed(t)                                  | characterTyped |
/// | ------------- | ------------------------------------------------ | -------------- |
/// | off           | on(since: t)                                     | ignored        |
/// | on(since: t0) | capsLock where \|t − t0\| < threshold, else off  | off            |
/// | capsLock      | off                                              | ignored        |
///
/// `on` remembers when it was entered, because the same press means capsLock or off depending on
/// how long ago that was. The absolute value lets two keyboards whose stamps cross by a hair agree
/// with one keyboard.
public struct ShiftRules: DrawableRules, Hashable {
  /// What the next character will be.
  public enum State: Hashable, Sendable {
    /// As it is on the key.
    case off
    /// Shifted, once. `since` is when Shift was pressed; `nil` where the time was lost.
    case on(since: Time?)
    /// Shifted, until Shift is pressed again.
    case capsLock

    /// The name that programs are told.
    public var name: String {
      switch self {
      case .off: "off"
      case .on: "on"
      case .capsLock: "capsLock"
      }
    }
  }

  /// What can happen to it.
  public enum Event: Hashable, Sendable {
    /// Shift was pressed at this time; `nil` where the press was found after events were lost.
    case shiftPressed(at: Time?)
    /// A key that types a character was pressed, or repeated.
    case characterTyped

    /// The name that programs are told.
    public var name: String {
      switch self {
      case .shiftPressed: "shiftPressed"
      case .characterTyped: "characterTyped"
      }
    }
  }

  /// Two presses closer together than this are capsLock; exactly this far apart they are off. Whole
  /// microseconds, at least one.
  public let threshold: Duration

  /// Rules with this threshold, which counts as the next whole microsecond: since times are whole
  /// microseconds, it is the same.
  ///
  /// - Precondition: `threshold` is above zero, or there would be no capsLock.
  public init(threshold: Duration = .milliseconds(500)) {
    precondition(threshold > .zero, "a threshold of zero or less is never met")
    let (seconds, attoseconds) = threshold.components
    let microseconds = (attoseconds + 999_999_999_999) / 1_000_000_000_000
    self.threshold = .seconds(seconds) + .microseconds(microseconds)
  }

  /// `off`.
  public var initial: State { .off }

  /// The table above.
  public func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.off, .shiftPressed(let time)): .on(since: time)
    case (.off, .characterTyped): nil  // there is no Shift to use up
    case (.on(let since), .shiftPressed(let time)):
      isDoublePress(since, time) ? .capsLock : .off
    case (.on, .characterTyped): .off
    case (.capsLock, .shiftPressed): .off
    case (.capsLock, .characterTyped): nil  // it holds for every character
    }
  }

  /// A press whose time was lost is never part of a double press: to guess would be to type in
  /// capitals unasked.
  private func isDoublePress(_ first: Time?, _ second: Time?) -> Bool {
    guard let first, let second else { return false }
    return second.isWithin(threshold, of: first)
  }
}
