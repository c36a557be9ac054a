import KeyboardModes

/// The Caps Lock of the session in front, which is to be on while the state `capsLock` lasts.
///
/// | phase     | LED on                   | LED off                   | time is over              |
/// | --------- | ------------------------ | ------------------------- | ------------------------- |
/// | notOurs   | -                        | `capsLock` entered: *tap* | -                         |
/// | awaitsOn  | ours; if unwanted, *tap* | -                         | if off: late, *give up*   |
/// | late      | ours; if unwanted, *tap* | -                         | notOurs                   |
/// | ours      | if unwanted, *tap*       | notOurs: the person's tap | -                         |
/// | awaitsOff | -                        | notOurs; if wanted, *tap* | notOurs; if on, *give up* |
/// | settling  | -                        | -                         | ours; if off, awaitsOff   |
///
/// A tap toggles Caps Lock, and leads to `awaitsOn` or `awaitsOff` until the LED has answered.
/// Without a known LED nothing is tapped, and time runs out only in `late` and `awaitsOff`. If the
/// tap before `settling` was not answered, an LED still off leads to notOurs, and *give up*.
///
/// If ``mayBeDark``, Caps Lock may be on although its LED is off, and only a tap tells. After
/// `settling`, an LED that is off leads to `awaitsOn` with a *tap*. If the LED is still off after
/// the time of `awaitsOn`, the tap has turned Caps Lock off: notOurs or, if wanted, another *tap*.
struct CapsLock: Sendable {
  enum Phase: Hashable, Sendable {
    /// Caps Lock is left to the person.
    case notOurs
    /// This program has tapped Caps Lock to turn it on, and the LED is not on yet.
    case awaitsOn
    /// The LED did not go on in time: the layout has another key there, or the machine is slow.
    case late
    /// Caps Lock is on by our tap.
    case ours
    /// This program has tapped Caps Lock to turn it off, and the LED is not off yet.
    case awaitsOff
    /// The session has come back, or this program has started. Before that, Caps Lock was ours, or
    /// its LED had not answered our tap. The LEDs may still show another session.
    case settling(isAnswered: Bool)
  }

  typealias Action = ShiftTyping.Action

  /// How long the LED may take to answer, in microseconds.
  static let answerTimeout: Int64 = 2_000_000
  /// For how many microseconds more an LED that goes on counts as the answer to our tap. Later, the
  /// person must have pressed the key that their layout has for Caps Lock.
  static let lateAnswerTimeout: Int64 = 8_000_000
  /// How long the LEDs must not change after a session has come to the front, in microseconds.
  static let settlingTime: Int64 = 1_000_000

  var phase = Phase.notOurs
  /// Whether `capsLock` was entered, and lasts.
  var isWanted = false
  /// What the LED shows: the state of the lock `caps`.
  var led = LockRules.State.unknown
  /// Whether Caps Lock may be on although the LED is off: Xorg keeps it while another console is in
  /// front, and leaves the LEDs dark until the next change.
  var mayBeDark = false
  /// When the phase ends by itself, in microseconds of the boot clock.
  var phaseEnd: Int64?
  /// Whether to turn Caps Lock on; `false` for good once Caps Lock has not answered a tap.
  var turnsOn = true

  /// Takes whether Caps Lock is wanted, and returns the tap that this causes, if any.
  mutating func want(_ isWanted: Bool, at now: Int64) -> Action? {
    self.isWanted = isWanted
    if phase == .notOurs, isWanted, led == .off, turnsOn { return tap(.awaitsOn, at: now) }
    return followLED(at: now)
  }

  /// Takes the state that the LED shows, and returns the tap that this causes, if any.
  mutating func update(_ led: LockRules.State, at now: Int64) -> Action? {
    guard led != self.led else { return nil }
    let before = self.led
    self.led = led
    switch phase {
    case .awaitsOn where led == .off: phaseEnd = now + Self.answerTimeout  // it was unknown
    case .settling: phaseEnd = led == .unknown ? nil : now + Self.settlingTime
    // The LED follows this session's Caps Lock again.
    case _ where (before, led) == (.off, .on): mayBeDark = false
    case .notOurs, .awaitsOn, .late, .ours, .awaitsOff: break
    }
    return followLED(at: now)
  }

  /// Ends the phase, if that is due.
  mutating func passTime(to now: Int64) -> Action? {
    guard let phaseEnd, phaseEnd <= now else { return nil }
    switch (phase, led) {
    case (.awaitsOn, .unknown), (.settling, .unknown):
      self.phaseEnd = nil
      return nil
    case (.awaitsOn, .off) where mayBeDark:
      mayBeDark = false
      if isWanted, turnsOn { return tap(.awaitsOn, at: now) }
      (phase, self.phaseEnd) = (.notOurs, nil)
      return nil
    case (.awaitsOn, .off):
      (phase, self.phaseEnd, turnsOn) = (.late, phaseEnd + Self.lateAnswerTimeout, false)
      return .giveUpCapsLock
    case (.settling(let isAnswered), .off) where mayBeDark && (isAnswered || turnsOn):
      return tap(.awaitsOn, at: now)
    case (.awaitsOff, .on), (.settling(isAnswered: false), .off):
      (phase, self.phaseEnd, turnsOn) = (.notOurs, nil, false)
      return .giveUpCapsLock
    case (.settling, .on), (.settling, .off):
      (phase, self.phaseEnd) = (led == .on ? .ours : .awaitsOff, nil)
      return followLED(at: now)
    case (.late, _), (.awaitsOff, _), (.awaitsOn, .on), (.ours, _), (.notOurs, _):
      (phase, self.phaseEnd) = (.notOurs, nil)
      return nil
    }
  }

  /// Changes the phase by what the LED shows, perhaps with a tap.
  private mutating func followLED(at now: Int64) -> Action? {
    switch (phase, led) {
    case (.awaitsOn, .on), (.late, .on), (.ours, .on):
      (phase, phaseEnd) = (.ours, nil)
      return isWanted ? nil : tap(.awaitsOff, at: now)
    case (.awaitsOff, .off) where isWanted && turnsOn: return tap(.awaitsOn, at: now)
    case (.ours, .off), (.awaitsOff, .off):
      (phase, phaseEnd) = (.notOurs, nil)
      return nil
    case (.awaitsOn, _), (.late, _), (.ours, _), (.awaitsOff, _), (.settling, _), (.notOurs, _):
      return nil
    }
  }

  private mutating func tap(_ next: Phase, at now: Int64) -> Action {
    (phase, phaseEnd) = (next, now + Self.answerTimeout)
    return .tapCapsLock
  }
}
