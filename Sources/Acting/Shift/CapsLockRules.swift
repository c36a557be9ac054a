import KeyboardModes
import StateMachines

/// Rules for the Caps Lock of one session, which is to be on while the state `capsLock` lasts.
///
/// |           | entered    | left            | LED comes on | LED goes off    | time is over            |
/// | --------- | ---------- | --------------- | ------------ | --------------- | ----------------------- |
/// | notOurs   | off: *tap* | ignored         | ignored      | ignored         | -                       |
/// | awaitsOn  | wanted     | unwanted        | ours, or *tap* | waits anew    | off: late, *give up*    |
/// | late      | wanted     | unwanted        | ours, or *tap* | ignored       | notOurs                 |
/// | ours      | wanted     | on: *tap*       | unwanted: *tap* | notOurs      | -                       |
/// | awaitsOff | wanted     | unwanted        | ignored      | notOurs, or *tap* | notOurs; on: *give up* |
/// | settling  | wanted     | unwanted        | waits anew   | waits anew      | as in ours or awaitsOff |
///
/// A tap leads to `awaitsOn` or `awaitsOff`: it turns Caps Lock over, and the LED tells that it has.
/// What is ours and unwanted is taken back as soon as the LED is on, and only then; what is wanted
/// again is turned on once the LED is off. An LED that is unknown decides nothing, but an answer that
/// should turn it off is not awaited for longer.
struct CapsLockRules: Rules {
  /// What the LED of Caps Lock shows: the state of the lock `caps`.
  typealias LED = LockRules.State

  enum State: Hashable, Sendable {
    /// Caps Lock is the person's own business.
    case notOurs
    /// It was tapped, and the LED is not on yet.
    case awaitsOn(isWanted: Bool, until: Int64)
    /// The LED did not come in time, so this layout has no Caps Lock there. A machine that is very
    /// slow may still show it.
    case late(isWanted: Bool, until: Int64)
    /// It is on by our tap. It is unwanted only while the LED is unknown.
    case ours(isWanted: Bool)
    /// It was tapped again, and the LED is not off yet.
    case awaitsOff(isWanted: Bool, until: Int64)
    /// It was ours when this session, or this program, was last there; or it was tapped, and not
    /// answered by then. The LEDs may still be those of another session.
    case settling(isWanted: Bool, isAnswered: Bool, until: Int64)

    /// When the state ends by itself, in microseconds of the boot clock. It is `max` while the LED
    /// is unknown.
    var until: Int64? {
      switch self {
      case .notOurs, .ours: nil
      case .awaitsOn(_, let until), .late(_, let until), .awaitsOff(_, let until),
        .settling(_, _, let until):
        until
      }
    }

    /// Whether it is ours or may be, and the LED has answered the tap.
    var isAnswered: Bool {
      switch self {
      case .notOurs, .awaitsOn, .late: false
      case .ours, .awaitsOff: true
      case .settling(_, let isAnswered, _): isAnswered
      }
    }
  }

  /// An event, with what the LED shows now, and the time in microseconds of the boot clock.
  enum Event: Hashable, Sendable {
    /// The state `capsLock` was entered.
    case entered(LED, at: Int64)
    /// It was left, or counts as left.
    case left(LED, at: Int64)
    /// The LED has changed.
    case told(LED, at: Int64)
    /// The state's time is over.
    case due(LED, at: Int64)
  }

  /// What follows from a transition.
  enum Action: Hashable, Sendable {
    /// Tap Caps Lock.
    case tap
    /// Say that Caps Lock does not answer, and no longer turn it on.
    case giveUp
  }

  /// How long the LED may take to answer a tap.
  static let patience: Int64 = 2_000_000
  /// How much longer a late LED still tells of our tap. Later it tells of another key, which the
  /// person has for Caps Lock.
  static let lateness: Int64 = 8_000_000
  /// How long the LEDs have to stay as they are once a session has come to the front.
  static let settling: Int64 = 1_000_000

  /// Whether to turn Caps Lock on: not any more once it did not answer.
  var turnsOn = true

  var initial: State { .notOurs }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.notOurs, .entered(.off, let now)): turnsOn ? turnedOn(at: now) : nil
    // The person has it on already, or there is no LED to tell.
    case (.notOurs, .entered(.on, _)), (.notOurs, .entered(.unknown, _)): nil
    case (.notOurs, .left), (.notOurs, .told), (.notOurs, .due): nil

    case (.awaitsOn(_, let until), .entered): .awaitsOn(isWanted: true, until: until)
    case (.awaitsOn(_, let until), .left): .awaitsOn(isWanted: false, until: until)
    case (.late(_, let until), .entered): .late(isWanted: true, until: until)
    case (.late(_, let until), .left): .late(isWanted: false, until: until)
    case (.awaitsOn(let isWanted, _), .told(.on, let now)),
      (.awaitsOn(let isWanted, _), .due(.on, let now)),
      (.late(let isWanted, _), .told(.on, let now)), (.late(let isWanted, _), .due(.on, let now)):
      lit(isWanted, at: now)
    // It was unknown until now.
    case (.awaitsOn(let isWanted, _), .told(.off, let now)):
      .awaitsOn(isWanted: isWanted, until: now + Self.patience)
    case (.awaitsOn, .told), (.late, .told): nil
    case (.awaitsOn(let isWanted, let until), .due(.off, _)):
      .late(isWanted: isWanted, until: until + Self.lateness)
    case (.awaitsOn(let isWanted, _), .due(.unknown, _)):
      .awaitsOn(isWanted: isWanted, until: .max)
    case (.late, .due): .notOurs

    case (.ours, .entered): .ours(isWanted: true)
    case (.ours, .left(let led, let now)), (.ours(isWanted: false), .told(let led, let now)):
      known(led, false, at: now)
    case (.ours, .told(.off, _)): .notOurs
    case (.ours, .told), (.ours, .due): nil

    case (.awaitsOff(_, let until), .entered): .awaitsOff(isWanted: true, until: until)
    case (.awaitsOff(_, let until), .left): .awaitsOff(isWanted: false, until: until)
    case (.awaitsOff(let isWanted, _), .told(.off, let now)): dark(isWanted, at: now)
    case (.awaitsOff, .told): nil
    case (.awaitsOff, .due): .notOurs

    case (.settling(_, let isAnswered, let until), .entered):
      .settling(isWanted: true, isAnswered: isAnswered, until: until)
    case (.settling(_, let isAnswered, let until), .left):
      .settling(isWanted: false, isAnswered: isAnswered, until: until)
    case (.settling(let isWanted, let isAnswered, _), .told(let led, let now)):
      .settling(
        isWanted: isWanted, isAnswered: isAnswered,
        until: led == .unknown ? .max : now + Self.settling)
    case (.settling(let isWanted, let isAnswered, _), .due(.unknown, _)):
      .settling(isWanted: isWanted, isAnswered: isAnswered, until: .max)
    case (.settling(_, isAnswered: false, _), .due(.off, _)): .notOurs
    case (.settling(let isWanted, _, _), .due(let led, let now)): known(led, isWanted, at: now)
    }
  }

  /// What follows from a transition.
  func action(from: State, to: State, on event: Event) -> Action? {
    switch (from, to, event) {
    case (.awaitsOn, .awaitsOn, _), (.awaitsOff, .awaitsOff, _): nil
    case (_, .awaitsOn, _), (_, .awaitsOff, _): .tap
    case (.awaitsOn, .late, _), (.awaitsOff, .notOurs, .due(.on, _)),
      (.settling(_, isAnswered: false, _), .notOurs, _):
      .giveUp
    case (_, .notOurs, _), (_, .late, _), (_, .ours, _), (_, .settling, _): nil
    }
  }

  private func turnedOn(at now: Int64) -> State {
    .awaitsOn(isWanted: true, until: now + Self.patience)
  }

  /// What is ours, with its LED on: kept or taken back.
  private func lit(_ isWanted: Bool, at now: Int64) -> State {
    isWanted ? .ours(isWanted: true) : .awaitsOff(isWanted: false, until: now + Self.patience)
  }

  /// What was ours, with its LED off: turned on anew if it is wanted again.
  private func dark(_ isWanted: Bool, at now: Int64) -> State {
    isWanted && turnsOn ? turnedOn(at: now) : .notOurs
  }

  private func known(_ led: LED, _ isWanted: Bool, at now: Int64) -> State {
    switch led {
    case .on: lit(isWanted, at: now)
    case .off: dark(isWanted, at: now)
    case .unknown: .ours(isWanted: isWanted)
    }
  }
}
