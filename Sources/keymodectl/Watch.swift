import CommandLineTools
import Glibc
import JSON
import KeyboardModes
import KeymodeClient
import KeymodeInterface
import SystemCalls
import Watching

/// What `keymodectl watch` was asked for.
struct WatchRequest: Sendable {
  let client: Client
  /// The machines that are watched: both or one.
  let machines: [Machine]
  /// Whether to wait for a daemon if none runs.
  let mayWait: Bool

  /// Whether a watch that has shown nothing yet waits after this error.
  func waits(after error: ClientError) -> Bool {
    if mayWait, case .noDaemon = error { true } else { false }
  }
}

/// `keymodectl watch [shift|keyboard]`: shows the states and every change, as lines, for a status bar,
/// or live.
func watch(_ operands: [String], directory: String, _ arguments: Arguments) async throws -> Int32 {
  guard operands.count <= 1 else { throw UsageError("watch takes one machine at most") }
  let machine = try operands.first.map(Machine.init(argument:))
  let given = ["--json", "--lines", "--waybar", "--format"].filter(arguments.isGiven)
  // --waybar prints the format as JSON.
  guard given.count < 2 || given == ["--waybar", "--format"] else {
    throw UsageError("\(given[0]) and \(given[1]) cannot be used together")
  }
  let request = WatchRequest(
    client: Client(directory: directory), machines: machine.map { [$0] } ?? Machine.allCases,
    mayWait: !arguments.has("--no-wait"))
  if arguments.has("--waybar") || arguments.isGiven("--format") {
    let usual = request.machines.map { "{\($0)}" }.joined(separator: " ")
    let line = StatusLine(
      try StatusFormat(arguments["--format"] ?? usual), of: request.machines,
      isForWaybar: arguments.has("--waybar"))
    return try await untilUnread { try await status(request, line) }
  }
  if !arguments.has("--json"), !arguments.has("--lines"), let terminal = Terminal() {
    return try await WatchScreen.run(request, terminal)
  }
  let asJSON = arguments.has("--json")
  return try await untilUnread { try await lines(request, asJSON: asJSON) }
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
private func lines(_ request: WatchRequest, asJSON: Bool) async throws -> Int32 {
  var output = Output()
  var missed: String?
  var hasStates = false
  for try await update in request.client.changes {
    switch update {
    case .states(let state):
      hasStates = true
      let line = ChangeLine.text(of: state.modes, at: state.time, for: request.machines)
      if !asJSON {
        output.line(line + (missed.map { " (missed \($0))" } ?? ""))
      } else if missed == nil {
        output.line(json: state)
      }
      missed = nil
    case .change(let change):
      guard request.machines.contains(change.machine) else { break }
      if asJSON { output.line(json: change) } else { output.line(ChangeLine.text(of: change)) }
    case .missed(let count):
      missed = ChangeLine.text(ofMissed: count)
      if asJSON {
        output.line(json: ["missed": count.map(JSON.integer) ?? .null] as JSON)
      }
    case .disconnected(let reason):
      guard !hasStates, request.waits(after: reason) else { throw reason }
      tellOfWaiting(reason)
    }
    output.flush()
  }
  return 0
}

/// Prints a line whenever a status bar should show another text, until the bar closes it.
private func status(_ request: WatchRequest, _ line: StatusLine) async throws -> Int32 {
  var output = Output()
  var line = line
  var hasBegun = false
  for try await update in request.client.changes {
    if case .disconnected(let reason) = update {
      guard request.mayWait else { throw reason }
      if !hasBegun, request.waits(after: reason) { tellOfWaiting(reason) }
    }
    hasBegun = true
    guard let next = line.take(update) else { continue }
    output.line(next)
    output.flush()
  }
  return 0
}
