import StateMachines

/// The Shift machine of a phone's keyboard.
///
/// |               | shiftPressed(t)                                  | characterTyped | timedOut |
/// | ------------- | ------------------------------------------------ | -------------- | -------- |
/// | off           | on(since: t)                                     | ignored        | ignored  |
/// | on(since: t0) | capsLock where \|t − t0\| < threshold, else off  | off            | off      |
/// | capsLock      | off                                              | ignored        | ignored  |
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
    /// Nobody used `on` within the timeout, if there is one. When that is, the ``Controller`` knows.
    case timedOut

    /// The name that programs are told.
    public var name: String {
      switch self {
      case .shiftPressed: "shiftPressed"
      case .characterTyped: "characterTyped"
      case .timedOut: "timedOut"
      }
    }
  }

  /// Two presses closer together than this are capsLock; exactly this far apart they are off. Whole
  /// microseconds, at least one.
  public let threshold: Duration

  /// How long after its press an `on` that nobody used is off; `nil` for never. Whole microseconds, at
  /// least one.
  public let timeout: Duration?

  /// Rules with this threshold and timeout, which count as the next whole microsecond: since times are
  /// whole microseconds, it is the same.
  ///
  /// - Precondition: both are above zero, or there would be no capsLock, or no `on`.
  public init(threshold: Duration = .milliseconds(500), timeout: Duration? = nil) {
    precondition(threshold > .zero, "a threshold of zero or less is never met")
    self.threshold = threshold.roundedUpToMicroseconds
    self.timeout = timeout.map { timeout in
      precondition(timeout > .zero, "a timeout of zero or less leaves no time for Shift")
      return timeout.roundedUpToMicroseconds
    }
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
    case (.off, .timedOut): nil  // it was used in time
    case (.on, .timedOut): .off
    case (.capsLock, .timedOut): nil  // it is meant to last
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
