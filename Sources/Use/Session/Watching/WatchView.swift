public import KeyboardModes
public import KeymodeClient
import System
public import Terminal
import Wire

/// The live view: a column for each machine, and below them what happened, newest first.
///
/// It reads no clock; only the time zone comes from the system. The duration of a state is shown in
/// its largest unit, so it changes every second for one minute after a change, then every minute
/// for one hour, and so on. From one minute after the last change, a view that stays open wakes the
/// processor at most once a minute for each machine. Past events have the time of day, which never
/// has to be drawn again.
public struct WatchView {
  /// What happened: a change, or something about the connection.
  struct Row {
    let clock: String
    /// The machine that changed, if one did.
    let machine: Machine?
    let text: String
    let look: Look
    let event: String?
  }

  private let directory: String
  /// The machines that have a column.
  let machines: [Machine]
  /// The machines whose changes are shown.
  private let followed: [Machine]
  /// What to do while no daemon has come yet.
  let advice: TerminalText
  /// The last known states; empty before the first update.
  private(set) var states: [Machine: String] = [:]
  /// When each state was entered, in microseconds on `CLOCK_BOOTTIME`, if that is known.
  private var since: [Machine: Int64] = [:]
  /// The daemon's clock minus `CLOCK_BOOTTIME`; not 0 if the daemon plays a recording.
  private var offset: Int64 = 0
  private(set) var rows: [Row] = []
  private(set) var isConnected = false

  /// An empty view.
  ///
  /// - Parameters:
  ///   - directory: the folder of the daemon's sockets.
  ///   - machines: the machines that are shown, at least one. Locks have columns only if no other
  ///     machine is shown.
  ///   - advice: a line that says what to do while no daemon has come yet.
  public init(
    directory: String, machines: [Machine] = Machine.allCases, advice: TerminalText = ""
  ) {
    (self.directory, followed, self.advice) = (directory, machines, advice)
    let modes = machines.filter(Machine.modes.contains)
    self.machines = modes.isEmpty ? machines : modes
  }

  /// `caps on, num off`: the locks that are known and have no column; empty if there are none.
  var locks: String {
    let texts = followed.filter { !machines.contains($0) }.compactMap { lock -> String? in
      guard let state = states[lock], state != LockRules.State.unknown.rawValue else { return nil }
      return "\(lock) \(state)"
    }
    return texts.joined(separator: ", ")
  }

  /// `connected to keymoded in /run/keymoded`
  var connection: String {
    isConnected
      ? "connected to keymoded in \(directory)" : "waiting for keymoded in \(directory)"
  }

  /// Takes an update that arrived at `now`.
  public mutating func take(_ update: Update, at now: Moment) {
    switch update {
    case .states(let state):
      if !isConnected, !states.isEmpty { note("connected again", now) }
      isConnected = true
      offset = state.time.microseconds &- now.boot
      for machine in Machine.allCases {
        states[machine] = state.modes[machine]
        since[machine] = state.modes.since(machine).map { min($0.microseconds &- offset, now.boot) }
      }
    case .change(let change):
      // A recording may be played faster than its clock. Nothing is shown as later than now.
      offset = max(offset, change.time.microseconds &- now.boot)
      let (machine, state, time) = (change.machine, change.to, change.time.microseconds &- offset)
      (states[machine], since[machine]) = (state, time)
      guard followed.contains(machine) else { return }
      let text = machines.contains(machine) ? state : "\(machine) \(state)"
      let (clock, event) = (now.clock(at: time), change.event)
      add(Row(clock: clock, machine: machine, text: text, look: .of(state), event: event))
    case .missed(let count):
      note("missed \(ChangeLine.text(ofMissed: count)) changes", now)
    case .disconnected:
      isConnected = false
      if !states.isEmpty { note("keymoded has ended", now) }
    }
  }

  private mutating func note(_ text: String, _ now: Moment) {
    let clock = now.clock(at: now.boot)
    add(Row(clock: clock, machine: nil, text: text, look: .strong, event: nil))
  }

  private mutating func add(_ row: Row) {
    rows.insert(row, at: 0)
    // More than the rows of any terminal.
    if rows.count > 500 { rows.removeLast() }
  }

  /// How long a machine has been in its state, such as `for 12 s`, and in how many microseconds
  /// that text changes; `nil` if it is unknown.
  func lasting(_ machine: Machine, at now: Moment) -> (text: String, left: Int64)? {
    guard isConnected, let entered = since[machine] else { return nil }
    let passed = max(0, now.passed(since: entered))
    let second: Int64 = 1_000_000
    let units: [(size: Int64, name: String)] = [
      (86_400 * second, "d"), (3600 * second, "h"), (60 * second, "min"), (second, "s"),
    ]
    let unit = units.first { passed >= $0.size } ?? (second, "s")
    return ("for \(passed / unit.size) \(unit.name)", unit.size - passed % unit.size)
  }

  /// In how many microseconds a shown duration changes; `nil` if none is shown.
  public func timeToNext(at now: Moment) -> Int64? {
    machines.compactMap { lasting($0, at: now)?.left }.min()
  }
}
