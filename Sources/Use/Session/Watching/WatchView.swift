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
    let timeOfDay: String
    /// The machine that changed, if one did.
    let machine: MachineName?
    let text: String
    let style: Style
    let event: String?
  }

  private let directory: String
  /// The machine whose changes are shown; `nil` for all.
  private let machine: MachineName?
  /// The text that tells the user what to do while no daemon has come yet.
  let advice: TerminalText
  /// The last known states; `nil` before the daemon has sent states.
  private(set) var states: States?
  /// The width of the longest text so far in the column of each machine: its name or a state.
  private(set) var widths: [MachineName: Int] = [:]
  /// When each state was entered, in microseconds on `CLOCK_BOOTTIME`, if that is known.
  private var since: [MachineName: Int64] = [:]
  /// The daemon's clock minus `CLOCK_BOOTTIME`, in microseconds; about 0 unless the daemon plays a
  /// recording.
  private var offset: Int64 = 0
  private(set) var rows: [Row] = []
  private(set) var isConnected = false

  /// An empty view.
  ///
  /// - Parameters:
  ///   - directory: the folder of the daemon's sockets.
  ///   - machine: the machine that is shown; `nil` for all.
  ///   - advice: a line that says what to do while no daemon has come yet.
  public init(directory: String, machine: MachineName? = nil, advice: TerminalText = "") {
    (self.directory, self.machine, self.advice) = (directory, machine, advice)
  }

  /// The machines that have a column: the shown machine, or all machines except unknown locks.
  var machines: [MachineName] {
    machine.map { [$0] } ?? states?.shownMachines(withLocks: .on, .off) ?? []
  }

  /// The first line, such as `connected to keymoded in /run/keymoded`.
  var connection: String {
    isConnected
      ? "connected to keymoded in \(directory)" : "waiting for keymoded in \(directory)"
  }

  /// Handles an update that arrived at `now`.
  public mutating func handle(_ update: Update, at now: Moment) {
    switch update {
    case .states(let state):
      if !isConnected, states != nil { note("connected again", now) }
      isConnected = true
      offset = state.time.microseconds &- now.sinceBoot
      states = state.states
      since = [:]
      for entry in state.states.entries {
        since[entry.machine] = entry.since.map { min($0.microseconds &- offset, now.sinceBoot) }
      }
      noteWidths()
    case .change(let change):
      // A recording may be played faster than it was made. No change is shown as later than now.
      offset = max(offset, change.time.microseconds &- now.sinceBoot)
      let time = change.time.microseconds &- offset
      states?.apply(change)
      since[change.machine] = time
      noteWidths()
      guard machine == nil || machine == change.machine else { return }
      let (timeOfDay, event) = (now.timeOfDay(at: time), change.event)
      add(
        Row(
          timeOfDay: timeOfDay, machine: change.machine, text: change.to, style: .of(change.to),
          event: event))
    case .missed(let count):
      note("missed \(ChangeLine.text(ofMissed: count)) changes", now)
    case .disconnected:
      isConnected = false
      if states != nil { note("keymoded has ended", now) }
    }
  }

  private mutating func noteWidths() {
    for entry in states?.entries ?? [] {
      let width = max(printable(entry.state).count, entry.machine.rawValue.count)
      widths[entry.machine] = max(widths[entry.machine] ?? 0, width)
    }
  }

  private mutating func note(_ text: String, _ now: Moment) {
    let timeOfDay = now.timeOfDay(at: now.sinceBoot)
    add(Row(timeOfDay: timeOfDay, machine: nil, text: text, style: .strong, event: nil))
  }

  private mutating func add(_ row: Row) {
    rows.insert(row, at: 0)
    // More than the rows of any terminal.
    if rows.count > 500 { rows.removeLast() }
  }

  /// How long a machine has been in its state, such as `for 12 s`, and in how many microseconds
  /// that text changes; `nil` if the duration is unknown.
  func shownDuration(of machine: MachineName, at now: Moment) -> (text: String, left: Int64)? {
    guard isConnected, let entered = since[machine] else { return nil }
    let elapsed = max(0, now.elapsed(since: entered))
    let second: Int64 = 1_000_000
    let units: [(size: Int64, name: String)] = [
      (86_400 * second, "d"), (3600 * second, "h"), (60 * second, "min"), (second, "s"),
    ]
    let unit = units.first { elapsed >= $0.size } ?? (second, "s")
    return ("for \(elapsed / unit.size) \(unit.name)", unit.size - elapsed % unit.size)
  }

  /// How long until a shown duration changes, in microseconds; `nil` if none is shown.
  public func timeToRedraw(at now: Moment) -> Int64? {
    machines.compactMap { shownDuration(of: $0, at: now)?.left }.min()
  }
}
