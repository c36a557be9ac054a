import EventRecordings
import JSON
import KeyboardModes
import SystemCalls

/// How much of what a recording holds: never which keys.
struct ReplayStatistics {
  private var devices: Set<DeviceID> = []

  /// The earliest and the latest time; they need not be the first and the last.
  private var period: ClosedRange<Time>?
  private var presses = (shift: 0, bound: 0, characters: 0, others: 0)
  private var releases = 0
  private var repeats = 0
  private var losses = 0

  /// Presses that count as none: see ``Settings/debounce``.
  private var bounces = 0
  private var changes: [Machine: Int] = [:]

  mutating func count(press meaning: PressMeaning) {
    switch meaning {
    case .shift: presses.shift += 1
    case .bound: presses.bound += 1
    case .character: presses.characters += 1
    case .other: presses.others += 1
    }
  }

  mutating func countBounce() { bounces += 1 }

  mutating func count(_ next: RecordedInput) {
    if let device = next.input.device { devices.insert(device) }
    if let time = next.time {
      period = min(period?.lowerBound ?? time, time)...max(period?.upperBound ?? time, time)
    }
    switch next.input {
    case .key(_, let event):
      if event.action == .release { releases += 1 }
      if event.action == .autorepeat { repeats += 1 }
    case .synchronized: losses += 1
    case .opened, .gone, .client, .configured: break
    }
  }

  mutating func count(_ change: Change) { changes[change.machine, default: 0] += 1 }

  private var allPresses: Int {
    presses.shift + presses.bound + presses.characters + presses.others
  }

  /// Microseconds. No recording has a time below zero, so the difference fits.
  private var duration: Int64 {
    period.map { $0.upperBound.microseconds - $0.lowerBound.microseconds } ?? 0
  }

  /// A line for each kind of thing that is counted.
  var text: TerminalText {
    let seconds = "\(duration / 1_000_000).\(duration % 1_000_000 / 100_000)"
    let bounced: TerminalText = bounces > 0 ? "\nbounces   \(bounces)" : ""
    return """
      devices   \(devices.count), for \(seconds) s
      presses   \(allPresses): \(presses.shift) of Shift, \(presses.bound) bound, \
      \(presses.characters) characters, \(presses.others) others
      releases  \(releases)
      repeats   \(repeats)\(bounced)
      losses    \(losses)
      changes   \(Machine.allCases.map { "\(changes[$0] ?? 0) of \($0)" }.joined(separator: ", "))
      """
  }

  var json: JSON {
    let counted: JSON = [
      "devices": .integer(Int64(devices.count)), "duration": .integer(duration),
      "presses": [
        "shift": .integer(Int64(presses.shift)), "bound": .integer(Int64(presses.bound)),
        "characters": .integer(Int64(presses.characters)),
        "others": .integer(Int64(presses.others)),
      ],
      "releases": .integer(Int64(releases)), "repeats": .integer(Int64(repeats)),
      "bounces": .integer(Int64(bounces)),
      "losses": .integer(Int64(losses)),
      "changes": [
        "shift": .integer(Int64(changes[.shift] ?? 0)),
        "keyboard": .integer(Int64(changes[.keyboard] ?? 0)),
      ],
    ]
    return ["stats": counted]
  }
}
