import Glibc
import JSON
import KeyboardModes
import KeymodeClient
import KeymodeInterface
import SystemCalls

/// `keymodectl watch`
func watch(_ operands: [String], directory: String, _ arguments: Arguments) async throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("watch takes no operand") }
  let given = ["--json", "--lines", "--waybar", "--format"].filter(arguments.isGiven)
  // A bar may well have a format of its own.
  guard given.count < 2 || given == ["--waybar", "--format"] else {
    throw UsageError("\(given[0]) and \(given[1]) exclude each other")
  }
  let client = Client(directory: directory)
  if arguments.has("--waybar") || arguments.isGiven("--format") {
    let format = try StatusFormat(arguments["--format"] ?? "{shift} {keyboard}")
    let line = StatusLine(format, isForWaybar: arguments.has("--waybar"))
    return try await whileSomebodyReads { try await status(client, line) }
  }
  if !arguments.has("--json"), !arguments.has("--lines"), let terminal = Terminal() {
    return try await WatchScreen.run(client, terminal)
  }
  let asJSON = arguments.has("--json")
  return try await whileSomebodyReads { try await lines(client, asJSON: asJSON) }
}

/// Ends when whoever reads standard output has gone, even if there is nothing to be written for
/// hours: a bar that was killed is not to leave a watch behind.
private func whileSomebodyReads(
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

/// A line for the states and one for each change, until the daemon ends: what reads them decides
/// what that means.
private func lines(_ client: Client, asJSON: Bool) async throws -> Int32 {
  var output = Output.standard()
  var missed: MissedChanges?
  for try await update in client.changes {
    switch update {
    case .states(let state):
      let line = ChangeLine.text(of: state) + (missed.map { " (missed \($0.text))" } ?? "")
      if !asJSON { output.line("\(line)") } else if missed == nil { output.line(json: state) }
      missed = nil
    case .change(let change):
      if asJSON { output.line(json: change) } else { output.line("\(ChangeLine.text(of: change))") }
    case .missed(let count):
      missed = MissedChanges(count: count)
      if asJSON {
        output.line(json: ["missed": count.map(JSON.integer) ?? .null] as JSON)
      }
    case .disconnected(let reason): throw reason
    }
    output.flush()
  }
  return 0
}

/// A line whenever what a status bar shows is another, for as long as the bar reads.
private func status(_ client: Client, _ line: StatusLine) async throws -> Int32 {
  var output = Output.standard()
  var states: [Machine: String] = [:]
  var last: TerminalText?
  for try await update in client.changes {
    switch update {
    case .states(let state):
      for machine in Machine.allCases { states[machine] = state.modes[machine] }
    case .change(let change):
      // Behind a new connection the states come last, and until then half of them are not known.
      guard !states.isEmpty else { continue }
      states[change.machine] = change.to
    case .missed: continue
    case .disconnected: states = [:]
    }
    let next = line.text(states)
    guard next != last else { continue }
    last = next
    output.line(next)
    output.flush()
  }
  return 0
}

/// How many changes could not be told, as people read it.
struct MissedChanges {
  let count: Int64?

  var text: String { count.map { "\($0)" } ?? "some" }
}
