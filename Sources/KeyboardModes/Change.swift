/// Which of the two machines.
public enum Machine: String, CaseIterable, Sendable {
  /// The Shift machine, ``ShiftRules``.
  case shift
  /// The keyboard machine, ``KeyboardTable``.
  case keyboard
}

/// One transition of one machine: what programs are told.
///
/// States and events are names, because that is what programs compare.
public struct Change: Hashable, Sendable {
  /// The number of the change, from 1, without a gap.
  public let sequence: Int64
  /// When the event happened. Sequence, not time, is the order of changes: a tap of Shift is timed
  /// at its press but counts at its release, after what happened in between.
  public let time: Time
  /// The machine that changed.
  public let machine: Machine
  /// The state that it left.
  public let from: String
  /// The state that it entered.
  public let to: String
  /// The event that made it.
  public let event: String

  /// The event that is none of a table: a new configuration has the state that was left no more.
  public static let configured = "configured"

  /// The change with these parts.
  public init(
    sequence: Int64, time: Time, machine: Machine, from: String, to: String, event: String
  ) {
    self.sequence = sequence
    self.time = time
    self.machine = machine
    self.from = from
    self.to = to
    self.event = event
  }
}

/// The states of both machines at one point of the sequence.
public struct Modes: Hashable, Sendable {
  /// The number of the last change; 0 before the first.
  public let sequence: Int64
  /// The state of the Shift machine.
  public let shift: String
  /// The time of the change that entered it; `nil` before the first change.
  public let shiftSince: Time?
  /// The state of the keyboard machine.
  public let keyboard: String
  /// The time of the change that entered it; `nil` before the first change.
  public let keyboardSince: Time?

  /// The states with these parts.
  public init(
    sequence: Int64, shift: String, shiftSince: Time?, keyboard: String, keyboardSince: Time?
  ) {
    self.sequence = sequence
    self.shift = shift
    self.shiftSince = shiftSince
    self.keyboard = keyboard
    self.keyboardSince = keyboardSince
  }
}

/// An event that a program may send in place of a key.
public enum ClientEvent: Hashable, Sendable {
  /// Shift was pressed.
  case shiftPressed
  /// A character was typed.
  case characterTyped
  /// Something happened to the keyboard machine.
  case keyboard(KeyboardTable.Event)

  /// The event of this name, or `nil` where there is none.
  ///
  /// - Parameter table: what says which events the keyboard machine has.
  public init?(name: String, in table: KeyboardTable = .standard) {
    switch name {
    case "shiftPressed": self = .shiftPressed
    case "characterTyped": self = .characterTyped
    default:
      guard let event = table.event(named: name) else { return nil }
      self = .keyboard(event)
    }
  }

  /// The names of those for the Shift machine, which has more where time makes them.
  public static let namesForShift = ["shiftPressed", "characterTyped"]
}
