/// The part of the configuration that decides the states: the same settings and the same inputs
/// always give the same changes.
public struct Settings: Hashable, Sendable {
  /// When a press of Shift counts.
  public enum ShiftTrigger: String, CaseIterable, Sendable {
    /// At once; but a press that belongs to a shortcut does not count, or is taken back.
    case press
    /// At the release of Shift, with the time of the press, if no other key went down in between
    /// and Shift was held for less than ``Settings/tapTimeout``. A press that belongs to a shortcut
    /// does not count.
    case tap
    /// At once, whatever else is held, as on a phone, and never taken back.
    case always
  }

  /// Which keys use up a Shift that is on.
  public enum KeysUsingShift: String, CaseIterable, Sendable {
    /// Keys that type a character.
    case characters
    /// All keys but Shift and AltGr. Each key sends `characterTyped`, or takes back a press of
    /// Shift. So a program that holds a virtual Shift while the state is `on` shifts only one key.
    case any
  }

  /// The rules of the Shift machine.
  public var shift: ShiftRules
  /// When a press of Shift counts.
  public var shiftTrigger: ShiftTrigger
  /// Which keys use up a Shift that is on.
  public var shiftUsedBy: KeysUsingShift
  /// A key that is down for less than this was tapped. This matters for Shift with
  /// ``ShiftTrigger/tap``, and for chords with ``ChordTrigger/tap``.
  public var tapTimeout: Duration
  /// A machine whose rules are a table.
  public struct TableMachine: Hashable, Sendable {
    /// The name of the machine, as in ``Change/machine``.
    public let name: MachineName
    /// The rules of the machine.
    public var table: CompiledTable

    /// The machine of this name, with these rules.
    public init(_ name: MachineName, _ table: CompiledTable) {
      (self.name, self.table) = (name, table)
    }
  }

  /// The machines with tables: the keyboard, then the user's own in the order of their names.
  public var machines: [TableMachine]
  /// The bindings of chords to events of ``machines``.
  public var bindings: Bindings
  /// A press less than this after the key's release is a bounce of its switch and is ignored; with
  /// zero, every press counts.
  public var debounce: Duration
  /// Whether the buttons of pointers count as keys, so that Shift and a click are a shortcut.
  public var pointers: Bool
  /// The locks that are followed; the others are always `unknown`.
  public var locks: Set<Lock>

  /// The default settings, except for the given arguments.
  ///
  /// - Parameter own: the user's own machines, in the order of their names.
  public init(
    shift: ShiftRules = ShiftRules(), shiftTrigger: ShiftTrigger = .press,
    shiftUsedBy: KeysUsingShift = .characters, tapTimeout: Duration = .milliseconds(200),
    keyboard: CompiledTable = .shipped, machines own: [TableMachine] = [],
    bindings: Bindings = .default,
    debounce: Duration = .zero, pointers: Bool = true,
    locks: Set<Lock> = [.caps, .num]
  ) {
    (self.shift, self.shiftTrigger, self.shiftUsedBy) = (shift, shiftTrigger, shiftUsedBy)
    self.tapTimeout = tapTimeout
    machines = [TableMachine(.keyboard, keyboard)] + own
    (self.bindings, self.debounce) = (bindings, debounce)
    (self.pointers, self.locks) = (pointers, locks)
  }

  /// The rules of the keyboard machine.
  public var keyboard: CompiledTable {
    get { machines[0].table }
    set { machines[0].table = newValue }
  }
}
