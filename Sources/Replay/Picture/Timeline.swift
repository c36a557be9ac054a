public import KeyboardModes

/// The changes and presses of a replayed recording, to be drawn as one picture.
///
/// States that changed faster than can be seen are drawn as "many changes", and presses within one
/// pixel are one tick. A span that is drawn as a state was in that state only, and no state that lasted
/// long enough to be seen is left out.
public struct Timeline: Sendable {
  /// The class of a press. A timeline never holds which key it was.
  public enum Press: String, CaseIterable, Sendable {
    /// Either Shift key.
    case shift = "Shift keys"
    /// A key, or chord, that is bound to an event of the keyboard machine.
    case bound = "bound keys"
    /// A key that types a character.
    case character = "characters"
    /// Any other key.
    case other = "other keys"
  }

  /// The first and the latest time, in microseconds.
  private(set) var period: ClosedRange<Int64>
  /// The time that the picture shows as 0, in microseconds.
  let zero: Int64
  private(set) var shift: Lane
  private(set) var keyboard: Lane
  /// The times of the presses, in microseconds.
  private(set) var presses: [Press: [Int64]] = [:]

  /// A timeline that begins at `time`. Whatever is earlier counts at that time.
  ///
  /// - Parameters:
  ///   - modes: the states of the machines at that time.
  ///   - clock: the clock whose times the picture has.
  ///   - table: the table of the keyboard machine, which has the names of its states.
  public init(
    from time: Time, in modes: Modes, on clock: DisplayClock = DisplayClock(),
    keyboard table: KeyboardTable = .standard
  ) {
    zero = Self.limited(Time(microseconds: clock.zero))
    let time = Self.limited(time)
    period = time...time
    shift = Lane("Shift", ShiftRules().stateNames, [0, 1, 2], in: modes.shift, at: time)
    keyboard = Lane(
      "Keyboard", table.stateNames, [0, 3, 4, 5, 6, 1, 2], in: modes.keyboard, at: time)
  }

  /// Adds a press of a key. Autorepeats are not presses.
  public mutating func add(_ press: Press, at time: Time) {
    presses[press, default: []].append(cover(time))
  }

  /// Adds a change. The changes of one machine must come in the order of their sequence, without a
  /// gap. If a change is earlier than the one before, it counts at the time of that one.
  public mutating func add(_ change: Change) {
    let time = cover(change.time)
    switch change.machine {
    case .shift: shift.add(change.to, at: time)
    case .keyboard: keyboard.add(change.to, at: time)
    case .caps, .num: break  // The picture has no lane for the locks.
    }
  }

  /// Makes the picture end at `time`, the time of the recording's last event, unless something else
  /// is later.
  public mutating func end(at time: Time) { _ = cover(time) }

  /// Extends the period to `time`, and returns it in microseconds.
  private mutating func cover(_ time: Time) -> Int64 {
    let time = max(period.lowerBound, Self.limited(time))
    period = period.lowerBound...max(period.upperBound, time)
    return time
  }

  /// `time` in microseconds, at most 36 000 years, so that the axis can go on a little. Recorded
  /// times are never negative.
  private static func limited(_ time: Time) -> Int64 { min(time.microseconds, 1 << 60) }
}
