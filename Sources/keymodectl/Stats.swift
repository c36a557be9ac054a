import CommandLineTools
import KeymodeClient
import SystemCalls

/// `keymodectl stats`: prints what the daemon counts.
func stats(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("stats takes no operand") }
  let statistics = try daemon.connect().statistics()
  // A difference of two `Duration`s cannot overflow.
  let running =
    Duration.microseconds(statistics.time.microseconds)
    - .microseconds(statistics.started.microseconds)
  let rows =
    [
      ["running", "\(running.components.seconds) s"], ["changes", "\(statistics.changes)"],
      ["clients", "\(statistics.clients)"], ["missed", "\(statistics.missed)"],
      ["devices", "\(statistics.devices)"], ["losses", "\(statistics.losses)"],
      ["reloads", "\(statistics.reloads)"],
    ] + (statistics.configuration.map { [["configuration", configurationText($0)]] } ?? [])
  let text = Table.lines(rows).joined(separator: "\n")
  Output.print(text, json: asJSON ? statistics : nil)
  return 0
}

/// What the name of the configuration in force means.
private func configurationText(_ name: String) -> String {
  switch name {
  case "current": "good"
  case "lastGood": "invalid; the last good one applies"
  case "defaults": "invalid; the defaults apply"
  default: printable(name)
  }
}
