import KeymodeClient
import Terminal

/// `keymodectl stats`: prints statistics of the daemon.
func stats(_ invocation: Invocation) throws -> Int32 {
  let statistics = try invocation.daemon.ask(.statistics)
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
    + statistics.held.map { hold in
      let held =
        Duration.microseconds(statistics.time.microseconds)
        - .microseconds(hold.since.microseconds)
      return [
        "held", "\(hold.kind) by '\(printable(hold.device))', for \(held.components.seconds) s",
      ]
    }
  let text = Table.lines(rows).joined(separator: "\n")
  try Output.print(text, json: invocation.asJSON ? statistics : nil)
  return ExitStatus.done
}

/// Says whether the configuration is valid and, if it is not, which one applies.
private func configurationText(_ name: String) -> String {
  switch name {
  case "current": "good"
  case "lastGood": "invalid; the last good one applies"
  case "defaults": "invalid; the defaults apply"
  default: printable(name)
  }
}
