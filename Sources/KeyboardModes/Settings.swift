/// What of the configuration decides the states; the same settings and the same inputs always
/// give the same changes.
public struct Settings: Hashable, Sendable {
  /// When a press of Shift counts.
  public enum ShiftTrigger: Hashable, Sendable {
    /// At once, whatever else happens.
    case press
    /// At its release, timed at its press, where no other key went down in between and it was held
    /// for less than `timeout`. A shortcut such as Ctrl+Shift+C then leaves Shift alone.
    case tap(timeout: Duration)
  }

  /// The rules of the Shift machine.
  public var shift: ShiftRules
  /// When a press of Shift counts.
  public var shiftTrigger: ShiftTrigger
  /// The rules of the keyboard machine.
  public var keyboard: KeyboardTable
  /// Which chords mean which of its events.
  public var bindings: Bindings
  /// A press of a key less than this after its release is a bounce of its switch, and no press; zero
  /// where every press is one.
  public var debounce: Duration

  /// The settings that are in force where the user says nothing.
  public init(
    shift: ShiftRules = ShiftRules(), shiftTrigger: ShiftTrigger = .press,
    keyboard: KeyboardTable = .standard, bindings: Bindings = .standard,
    debounce: Duration = .zero
  ) {
    self.shift = shift
    self.shiftTrigger = shiftTrigger
    self.keyboard = keyboard
    self.bindings = bindings
    self.debounce = debounce
  }
}
