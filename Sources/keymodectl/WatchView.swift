import Glibc
import KeyboardModes
import KeymodeClient
import KeymodeInterface

/// What a live watch shows: a lane for each machine, and what has happened, newest first.
///
/// It is pure but for the time of day that it is told. For how long a state lasts is shown in the
/// largest unit alone, so that a second hand runs for a minute after a change and a minute hand for
/// an hour: whoever leaves the view open pays one wakeup in a minute or less. What has happened has
/// the time of day, which never needs to be drawn again.
struct WatchView {
  /// A moment on the two clocks of this machine.
  struct Moment {
    /// Microseconds on `CLOCK_BOOTTIME`.
    let boot: Int64
    /// Seconds since 1970.
    let day: Int64

    /// Microseconds since `time`, which a recording may have as far away as it likes.
    func passed(since time: Int64) -> Int64 {
      let (difference, overflow) = boot.subtractingReportingOverflow(time)
      return overflow ? (time < 0 ? .max : .min) : difference
    }
  }

  struct Row {
    let clock: String
    let content: Content

    enum Content {
      case change(Change)
      case note(String)
    }
  }

  private let directory: String
  private(set) var states: [Machine: String] = [:]
  /// When each state was entered, on this machine's clock.
  private(set) var since: [Machine: Int64] = [:]
  private(set) var rows: [Row] = []
  private(set) var isConnected = false
  /// What to add to this machine's clock for the daemon's, which may be that of a recording.
  private var offset: Int64 = 0

  init(directory: String) { self.directory = directory }

  /// `connected to keymoded in /run/keymoded`
  var connection: String {
    isConnected
      ? "connected to keymoded in \(directory)" : "waiting for keymoded in \(directory)"
  }

  mutating func take(_ update: Update, at now: Moment) {
    switch update {
    case .states(let state):
      offset = state.time.microseconds &- now.boot
      if !isConnected, !states.isEmpty { note("connected again", now) }
      isConnected = true
      let times = [Machine.shift: state.modes.shiftSince, .keyboard: state.modes.keyboardSince]
      for machine in Machine.allCases {
        states[machine] = state.modes[machine]
        since[machine] = times[machine]?.map { min($0.microseconds &- offset, now.boot) }
      }
    case .change(let change):
      // A recording may run faster than the clock; nothing happens later than now.
      offset = max(offset, change.time.microseconds &- now.boot)
      let time = change.time.microseconds &- offset
      states[change.machine] = change.to
      since[change.machine] = time
      add(Row(clock: clock(at: time, now), content: .change(change)))
    case .missed(let count):
      note("missed \(MissedChanges(count: count).text) changes", now)
    case .disconnected:
      isConnected = false
      note("keymoded has ended", now)
    }
  }

  private mutating func note(_ text: String, _ now: Moment) {
    add(Row(clock: clock(at: now.boot, now), content: .note(text)))
  }

  private mutating func add(_ row: Row) {
    rows.insert(row, at: 0)
    // No terminal has more rows.
    if rows.count > 500 { rows.removeLast() }
  }

  /// `15:02:11`
  private func clock(at time: Int64, _ now: Moment) -> String {
    var seconds = time_t(now.day - now.passed(since: time) / 1_000_000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
      .joined(separator: ":")
  }

  /// `for 12 s`, and in how many microseconds that will be another.
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

  /// In how many microseconds something else is to be shown, though nothing happens.
  func timeToNext(at now: Moment) -> Int64? {
    Machine.allCases.compactMap { lasting($0, at: now)?.left }.min()
  }
}
