import KeyboardModes
import Wire

/// The states as last received, with times on the clock of this computer.
struct ShownStates {
  /// The states; empty while they are unknown.
  private(set) var states: [Machine: String] = [:]
  /// When each state was entered, in microseconds on `CLOCK_BOOTTIME`, if that is known.
  private(set) var since: [Machine: Int64] = [:]
  /// The daemon's clock minus `CLOCK_BOOTTIME`; not 0 if the daemon plays a recording.
  private var offset: Int64 = 0

  /// Takes the states that arrived at `now`.
  mutating func take(_ state: StateMessage, at now: Moment) {
    offset = state.time.microseconds &- now.boot
    for machine in Machine.allCases {
      states[machine] = state.modes[machine]
      since[machine] = state.modes.since(machine).map { min($0.microseconds &- offset, now.boot) }
    }
  }

  /// Takes a change that arrived at `now`.
  mutating func take(_ change: Change, at now: Moment) {
    // A recording may be played faster than its clock. Nothing is shown as later than now.
    offset = max(offset, change.time.microseconds &- now.boot)
    states[change.machine] = change.to
    since[change.machine] = change.time.microseconds &- offset
  }
}
