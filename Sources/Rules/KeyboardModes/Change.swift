/// One of the machines.
public enum Machine: String, CaseIterable, Sendable {
  /// The Shift machine, ``ShiftRules``.
  case shift
  /// The keyboard machine, ``KeyboardTable``.
  case keyboard
  /// Caps Lock, ``LockRules``.
  case caps
  /// Num Lock, ``LockRules``.
  case num

  /// The machines other than locks. Commands show these if the user names no machine; some also
  /// show each lock whose state is known.
  public static let modes: [Machine] = [.shift, .keyboard]
}

/// One transition of one machine, as programs receive it.
///
/// States and events are strings, because programs compare names.
public struct Change: Hashable, Sendable {
  /// The number of the change, from 1, without a gap.
  public let sequence: Int64
  /// When the event happened. Changes are ordered by `sequence`, not by time: a tap of Shift has
  /// the time of its press but takes effect at its release, after any changes in between.
  public let time: Time
  /// The machine that changed.
  public let machine: Machine
  /// The state that the machine left.
  public let from: String
  /// The state that the machine entered.
  public let to: String
  /// The event that caused the change.
  public let event: String

  /// The event of a change that new settings cause: their table lacks the present state, and the
  /// keyboard machine returns to its initial state. The configuration rejects this name for events.
  public static let configured = "configured"

  /// The greatest number of a change. Stored states with a greater one are ignored, so that
  /// counting on from them cannot overflow.
  public static let greatestSequence: Int64 = 1 << 53

  /// Each parameter is the property of its name.
  public init(
    sequence: Int64, time: Time, machine: Machine, from: String, to: String, event: String
  ) {
    (self.sequence, self.time, self.machine) = (sequence, time, machine)
    (self.from, self.to, self.event) = (from, to, event)
  }
}

/// An event that a program may send instead of a key.
public enum ClientEvent: Hashable, Sendable {
  /// Shift was pressed.
  case shiftPressed
  /// A character was typed.
  case characterTyped
  /// An event of the keyboard machine.
  case keyboard(KeyboardTable.Event)

  /// The event of this name, or `nil` if a program can send no event of this name.
  ///
  /// - Parameter table: the keyboard machine's table, which names its events.
  public init?(name: String, in table: KeyboardTable = .standard) {
    switch name {
    case "shiftPressed": self = .shiftPressed
    case "characterTyped": self = .characterTyped
    default:
      guard let event = table.event(named: name) else { return nil }
      self = .keyboard(event)
    }
  }

  /// The names of the client events for the Shift machine. `timedOut` is not among them: only time
  /// causes it.
  public static let namesForShift = ["shiftPressed", "characterTyped"]
}
