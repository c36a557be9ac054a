import KeyboardModes

/// What happened while a recording was replayed, to be drawn as one picture.
///
/// A timeline never holds more than a few thousand times, however long the recording is. Where more
/// happens, it becomes coarser: states that changed faster than can be seen are drawn as "many
/// changes", and presses that fall into one sliver of time are one tick. What is drawn as a state
/// was that state, and nothing that lasted is left out.
public struct Timeline: Sendable {
  /// What a press was; never which key.
  public enum Press: Int, CaseIterable, Sendable {
    /// Either Shift key.
    case shift
    /// A key, or chord, that is bound to an event of the keyboard machine.
    case bound
    /// A key that types a character.
    case character
    /// Any other key.
    case other
  }

  /// The earliest and the latest time, in microseconds; `nil` before anything was added.
  private(set) var period: ClosedRange<Int64>?
  /// The time that the picture calls 0 s, in microseconds.
  private(set) var zero: Int64 = 0
  private(set) var shift: Lane
  private(set) var keyboard: Lane
  private(set) var presses = Press.allCases.map { _ in PressTimes() }

  /// A timeline on which nothing happened.
  ///
  /// - Parameter table: the states of the keyboard machine.
  public init(keyboard table: KeyboardTable = .standard) {
    let shiftRules = ShiftRules()
    shift = Lane(states: shiftRules.states.map(\.name), initial: shiftRules.initial.name)
    keyboard = Lane(states: table.stateNames, initial: table.name(of: table.initial))
  }

  /// How many times are stored, at most ``mostStored``.
  var stored: Int {
    shift.spans.count + keyboard.spans.count + presses.reduce(0) { $0 + $1.slots.count }
  }

  /// The bound of ``stored``.
  static let mostStored =
    Machine.allCases.count * Lane.mostSpans
    + Press.allCases.count * PressTimes.mostSlots

  /// Times further from the clock's zero, 36 000 years, count as this many microseconds, so that no
  /// difference of two overflows.
  static let furthest: Int64 = 1 << 60

  /// Lets the picture begin at `time`, where that is before everything else.
  ///
  /// Called first, with the time of a recording's first event, it makes the axis count as the
  /// recording does even where that event is not a press.
  public mutating func begin(at time: Time) {
    _ = cover(time)
  }

  /// Lets the picture begin at `time` with the machines in these states.
  public mutating func begin(at time: Time, shift: String, keyboard: String) {
    self.shift.begin(in: shift)
    self.keyboard.begin(in: keyboard)
    begin(at: time)
  }

  /// Adds a press of a key. Autorepeats are not presses.
  public mutating func add(_ press: Press, at time: Time) {
    presses[press.rawValue].add(cover(time))
  }

  /// Adds a change. Those of one machine come in the order of their sequence, without a gap; where
  /// the time of one steps back, it counts as the time of the one before it.
  public mutating func add(_ change: Change) {
    let time = cover(change.time)
    switch change.machine {
    case .shift: shift.add(from: change.from, to: change.to, at: time)
    case .keyboard: keyboard.add(from: change.from, to: change.to, at: time)
    }
  }

  /// Lets the picture end at `time`, where that is after everything else: the time of a recording's
  /// last event.
  public mutating func end(at time: Time) {
    _ = cover(time)
  }

  /// Stretches the period to `time`.
  ///
  /// - Returns: `time` in microseconds, no further from zero than ``furthest``.
  private mutating func cover(_ time: Time) -> Int64 {
    let microseconds = min(max(time.microseconds, -Self.furthest), Self.furthest)
    if let known = period {
      period = min(known.lowerBound, microseconds)...max(known.upperBound, microseconds)
    } else {
      period = microseconds...microseconds
      // Recordings of old carry seconds since 1970. Of such the whole seconds of the first event
      // are left out, as in the lines that replay prints.
      let second: Int64 = 1_000_000
      if microseconds > 100_000_000 * second { zero = microseconds / second * second }
    }
    return microseconds
  }
}
