import CommandLineTools
import Glibc
import JSON
import KeymodeClient
import KeymodeInterface
import SystemCalls
import Watching

/// `keymodectl watch`: shows the states and every change, as lines, for a status bar, or live.
func watch(_ operands: [String], directory: String, _ arguments: Arguments) async throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("watch takes no operand") }
  let given = ["--json", "--lines", "--waybar", "--format"].filter(arguments.isGiven)
  // --waybar prints the format as JSON.
  guard given.count < 2 || given == ["--waybar", "--format"] else {
    throw UsageError("\(given[0]) and \(given[1]) cannot be used together")
  }
  let client = Client(directory: directory)
  if arguments.has("--waybar") || arguments.isGiven("--format") {
    let format = try StatusFormat(arguments["--format"] ?? "{shift} {keyboard}")
    let line = StatusLine(format, isForWaybar: arguments.has("--waybar"))
    return try await untilUnread { try await status(client, line) }
  }
  if !arguments.has("--json"), !arguments.has("--lines"), let terminal = Terminal() {
    return try await WatchScreen.run(client, terminal)
  }
  let asJSON = arguments.has("--json")
  return try await untilUnread { try await lines(client, asJSON: asJSON) }
}

/// Runs `watch` until the reader of standard output has closed it. Otherwise a watch would outlive a
/// status bar that was killed, because it may have nothing to write for hours.
private func untilUnread(
  _ watch: @escaping @Sendable () async throws -> Int32
) async throws -> Int32 {
  try await withThrowingTaskGroup(of: Int32.self) { tasks in
    tasks.addTask(operation: watch)
    tasks.addTask {
      _ = try await Poller.shared.wait(toLose: STDOUT_FILENO)
      return 0
    }
    defer { tasks.cancelAll() }
    return try await tasks.next() ?? 0
  }
}

/// Prints a line for the states and one for each change, until the daemon ends. The reader decides
/// whether to start another watch.
private func lines(_ client: Client, asJSON: Bool) async throws -> Int32 {
  var output = Output()
  var missed: String?
  for try await update in client.changes {
    switch update {
    case .states(let state):
      let line = ChangeLine.text(of: state.modes, at: state.time)
      if !asJSON {
        output.line(line + (missed.map { " (missed \($0))" } ?? ""))
      } else if missed == nil {
        output.line(json: state)
      }
      missed = nil
    case .change(let change):
      if asJSON { output.line(json: change) } else { output.line(ChangeLine.text(of: change)) }
    case .missed(let count):
      missed = ChangeLine.text(ofMissed: count)
      if asJSON {
        output.line(json: ["missed": count.map(JSON.integer) ?? .null] as JSON)
      }
    case .disconnected(let reason): throw reason
    }
    output.flush()
  }
  return 0
}

/// Prints a line whenever a status bar should show another text, until the bar closes it.
private func status(_ client: Client, _ line: StatusLine) async throws -> Int32 {
  var output = Output()
  var line = line
  for try await update in client.changes {
    guard let next = line.take(update) else { continue }
    output.line(next)
    output.flush()
  }
  return 0
}
