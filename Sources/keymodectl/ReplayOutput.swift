import Acting
import KeyboardModes
import Replay
import Terminal
import Wire

/// What `keymodectl replay` prints: changes, the last states, and statistics.
struct ReplayOutput: ~Copyable {
  private let asJSON: Bool
  private var output: Output
  /// The recording that is replayed by itself.
  private var file: String?

  /// - Parameter isShared: whether other processes may print to the same pipe.
  init(asJSON: Bool, isShared: Bool = false) {
    self.asJSON = asJSON
    output = Output(isShared: isShared)
  }

  /// Begins the changes of a recording that is replayed by itself: each line of JSON has its name.
  mutating func begin(_ file: String) {
    if !asJSON {
      if self.file != nil { output.line("") }
      output.line("==> \(file) <==")
    }
    self.file = file
  }

  /// Prints the next changes of a replay.
  mutating func show(_ changes: [Change], on clock: DisplayClock) {
    if asJSON {
      for change in changes { print(change) }
    } else {
      for change in changes {
        output.line(ChangeLine.text(of: change, at: clock.shown(change.time)))
      }
    }
  }

  /// Prints the end of a replay: the states, and the statistics.
  mutating func end(_ replay: Replay) {
    let statistics = replay.statistics
    if asJSON {
      if let statistics { output.line(json: statistics.json(of: file)) }
      return
    }
    let time = replay.clock.shown(replay.time ?? Time(microseconds: 0))
    let modes = replay.modes
    // Most recordings have no LEDs.
    let machines = Machine.modes + modes.locks(.off, .on)
    output.line(ChangeLine.text(of: modes, at: time, for: machines))
    if let statistics { output.line(statistics.text) }
  }

  /// Writes everything that is still in memory.
  mutating func flush() { output.flush() }

  private mutating func print(_ change: Change) {
    guard let file else { return output.line(json: change) }
    output.line { bytes in
      bytes.appendJSON { json in
        json.object { json in
          json.member("file", file)
          change.writeMembers(to: &json)
        }
      }
    }
  }
}

extension ReplayStatistics {
  /// The counts for people, a line for each kind.
  fileprivate var text: TerminalText {
    let seconds = "\(duration / 1_000_000).\(duration % 1_000_000 / 100_000)"
    let counts = Timeline.Press.allCases.map { presses[$0, default: 0] }
    let bounced: TerminalText = bounces > 0 ? "\nbounces   \(bounces)" : ""
    return """
      devices   \(devices.count), for \(seconds) s
      presses   \(counts.reduce(0, +)): \(counts[0]) of Shift, \(counts[1]) bound, \
      \(counts[2]) characters, \(counts[3]) others
      releases  \(releases)
      repeats   \(repeats)\(bounced)
      losses    \(losses)
      changes   \(machines.map { "\(changes[$0] ?? 0) of \($0)" }.joined(separator: ", "))
      """
  }

  /// The machines whose changes are shown: locks only if they have some, because most recordings
  /// have no LEDs.
  private var machines: [Machine] {
    Machine.modes + Lock.allCases.map(\.machine).filter { changes[$0] != nil }
  }

  /// The counts as a line of JSON, behind the file that they are of. Durations are in microseconds.
  fileprivate func json(of file: String?) -> JSON {
    func number(_ count: Int?) -> JSON { .integer(Int64(count ?? 0)) }
    let counted: JSON = [
      "devices": number(devices.count), "duration": .integer(duration),
      "presses": [
        "shift": number(presses[.shift]), "bound": number(presses[.bound]),
        "characters": number(presses[.character]), "others": number(presses[.other]),
      ],
      "releases": number(releases), "repeats": number(repeats), "bounces": number(bounces),
      "losses": number(losses),
      "changes": .object(machines.map { .init($0.rawValue, number(changes[$0])) }),
    ]
    guard let file else { return ["stats": counted] }
    return ["file": .string(file), "stats": counted]
  }
}
