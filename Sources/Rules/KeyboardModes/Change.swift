/// The name of a machine: Shift, the keyboard, a lock, or a machine of the user's own.
public struct MachineName: RawRepresentable, Hashable, Comparable, Sendable {
  /// The name, such as `shift` or `talk`.
  public let rawValue: String

  /// The machine of this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The Shift machine, ``ShiftRules``.
  public static let shift = MachineName(rawValue: "shift")
  /// The keyboard machine; its shipped table is ``CompiledTable/shipped``.
  public static let keyboard = MachineName(rawValue: "keyboard")
  /// Caps Lock, ``LockRules``.
  public static let caps = MachineName(rawValue: "caps")
  /// Num Lock, ``LockRules``.
  public static let num = MachineName(rawValue: "num")

  /// The machines that are always there.
  public static let shipped = [shift, keyboard, caps, num]

  /// Whether this is a lock. LEDs show the state of a lock.
  public var isLock: Bool { self == .caps || self == .num }

  /// The prefix of the machine's states and events in names such as `talk.open`; empty for a
  /// shipped machine.
  public var prefix: String { MachineName.shipped.contains(self) ? "" : "\(self)." }

  /// Whether this is a shipped machine, or a name that a machine of the user's own may have.
  public var isValidName: Bool {
    MachineName.shipped.contains(self) || MachineName.isOwnName(rawValue)
  }

  /// The bytewise order of the names.
  public static func < (one: MachineName, other: MachineName) -> Bool {
    one.rawValue.utf8.lexicographicallyPrecedes(other.rawValue.utf8)
  }

  /// The maximum number of the user's own machines.
  public static let maxOwnMachines = 8

  /// Whether a machine of the user's own may have this name: a lower-case letter, then lower-case
  /// letters and digits, at most ``CompiledTable/maxNameBytes`` in all, and not ``reservedNames``.
  public static func isOwnName(_ name: String) -> Bool {
    guard let first = name.utf8.first, (97...122).contains(first),
      name.utf8.count <= CompiledTable.maxNameBytes, !reservedNames.contains(name)
    else { return false }
    return name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
  }

  /// The names of shipped machines, and names that would clash: `KEYMODE_TIME` is the time of a
  /// change, so it cannot be the state of a machine named `time`.
  public static let reservedNames =
    shipped.map(\.rawValue) + ["machine", "state", "event", "time"]
}

extension MachineName: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
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
  public let machine: MachineName
  /// The state that the machine left.
  public let from: String
  /// The state that the machine entered.
  public let to: String
  /// The event that caused the change.
  public let event: String

  /// The event of a machine that returns to its initial state, because its table in new settings
  /// lacks the present state. The configuration rejects this name for events.
  public static let configured = "configured"

  /// The greatest number of a change. Stored states with a greater number are ignored, so
  /// that the number of a later change cannot overflow.
  public static let maxSequence: Int64 = 1 << 53

  /// The change of `machine` from the state `from` to the state `to`, caused by `event`.
  public init(
    sequence: Int64, time: Time, machine: MachineName, from: String, to: String, event: String
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
  /// An event of the machine with this index in ``Settings/machines``.
  case table(Int, CompiledTable.Event)

  /// An event of the keyboard machine.
  public static func keyboard(_ event: CompiledTable.Event) -> ClientEvent { .table(0, event) }

  /// The event of this name, or `nil` if programs cannot send this event. An event of a machine of
  /// the user's own is written `talk.press`.
  public init?(name: String, in machines: [Settings.TableMachine] = Settings().machines) {
    if name == ShiftRules.Event.shiftPressed(at: nil).name { self = .shiftPressed; return }
    if name == ShiftRules.Event.characterTyped.name { self = .characterTyped; return }
    let (own, name) = Self.parts(of: name)
    guard let index = machines.firstIndex(where: { $0.name == own ?? .keyboard }),
      index > 0 || own == nil, let event = machines[index].table.event(named: name)
    else { return nil }
    self = .table(index, event)
  }

  /// The machine that the event is for, and the event's name in changes.
  public func machineAndEvent(in settings: Settings) -> (machine: MachineName, event: String) {
    switch self {
    case .shiftPressed: (.shift, ShiftRules.Event.shiftPressed(at: nil).name)
    case .characterTyped: (.shift, ShiftRules.Event.characterTyped.name)
    case .table(let index, let event):
      (settings.machines[index].name, settings.machines[index].table.name(ofEvent: event))
    }
  }

  /// The parts of a name such as `talk.press`: the user's own machine, if any, and the event.
  public static func parts(of name: String) -> (own: MachineName?, event: String) {
    guard let point = name.firstIndex(of: ".") else { return (nil, name) }
    return (MachineName(rawValue: String(name[..<point])), String(name[point...].dropFirst()))
  }

  /// The names of the client events for the Shift machine. `timedOut` is not among them: only time
  /// causes it.
  public static let namesForShift = [
    ShiftRules.Event.shiftPressed(at: nil), .characterTyped,
  ].map(\.name)
}
