import Glibc
import KeyboardModes
import KeymodeClient
import Session
import System
import Terminal
import Wire

/// What `keymodectl watch` follows, and whether it may wait.
struct WatchRequest {
  let directory: String
  /// The machine that is watched; `nil` for all.
  let machine: MachineName?
  /// Whether to wait for a daemon if none runs, and for the permission to read.
  let mayWait: Bool

  /// The machines that are watched; `nil` for all.
  var machines: Set<MachineName>? { machine.map { [$0] } }

  /// Whether a watch that has shown nothing yet waits after this error.
  func waits(after error: ClientError) -> Bool {
    switch error {
    case .noDaemon, .permissionDenied: mayWait
    default: false
    }
  }
}

/// `keymodectl watch [MACHINE]`: shows the states and every change, as lines, for a status
/// bar, or live.
func watch(_ invocation: Invocation) throws -> Int32 {
  let (operands, arguments) = (invocation.operands, invocation.arguments)
  guard operands.count <= 1 else { throw UsageError("watch takes one machine at most") }
  let machine = try operands.first.map(MachineName.init(argument:))
  let given = ["--json", "--lines", "--waybar", "--format"].filter(arguments.isGiven)
  // `--waybar` puts the text of `--format` into JSON, so these two go together.
  guard given.count < 2 || given == ["--waybar", "--format"] else {
    throw UsageError("\(given[0]) and \(given[1]) cannot be used together")
  }
  if let machine, !MachineName.shipped.contains(machine) { try checkIsKnown(machine, arguments) }
  let request = WatchRequest(
    directory: invocation.daemon.directory, machine: machine, mayWait: invocation.mayWait)
  if arguments.has("--waybar") || arguments.isGiven("--format") {
    let shown = machine.map { [$0] } ?? StatusLine.defaultMachines
    let usual = shown.map { "{\($0)}" }.joined(separator: " ")
    let format = try StatusFormat(arguments["--format"] ?? usual)
    if !format.machines.isSubset(of: MachineName.shipped) {
      let known = machines(arguments["--socket-dir"], arguments["--config"])
      try format.checkMachines(among: known.map(\.name))
    }
    let line = StatusLine(format, of: shown, isForWaybar: arguments.has("--waybar"))
    return try printForStatusBar(request, line)
  }
  if !invocation.asJSON, !arguments.has("--lines"), let terminal = Terminal() {
    return try WatchScreen(terminal, request).show()
  }
  let lines = WatchedLines(request, asJSON: invocation.asJSON)
  return try followUntilUnread(request, of: request.machines) { try lines.handle($0) }
}

/// Warns if there is no machine of this name: a later configuration may have it.
///
/// - Throws: `UsageError` if the name is misspelt.
private func checkIsKnown(_ machine: MachineName, _ arguments: Arguments) throws {
  let known = machines(arguments["--socket-dir"], arguments["--config"]).map(\.name)
  if known.contains(machine.rawValue) { return }
  guard nearest(to: machine.rawValue, among: known) == nil else {
    throw UsageError(unknown: machine, among: known)
  }
  printToStandardError(
    "keymoded has no machine '\(machine)', but \(listed(known));\nwaiting for a configuration that has it"
  )
}

/// Follows the daemon until standard output has no reader. Otherwise a watch would outlive a status
/// bar that was killed, because the watch may have nothing to write for hours.
///
/// - Parameter retries: whether to try again after an error, such as an invalid reply, or to throw.
private func followUntilUnread(
  _ request: WatchRequest, of machines: Set<MachineName>?, retries: Bool = false,
  _ handle: @escaping (Update) throws -> Void
) throws -> Int32 {
  let mainLoop = try MainLoop<Int32>()
  var daemon: EventSource?
  func follow() throws {
    daemon = try mainLoop.loop.follow(request.directory, of: machines) { update in
      mainLoop.perform {
        guard retries, case .failure(let error) = update else { return try handle(update.get()) }
        try handle(.disconnected(error))
        daemon = try mainLoop.loop.call(after: .seconds(5)) { mainLoop.perform(follow) }
      }
    }
  }
  try follow()
  // The loop refuses a file, which has no reader. A hang-up is reported without being asked for.
  let reader = try? mainLoop.loop.addIO(STDOUT_FILENO, []) { _ in mainLoop.end(ExitStatus.done) }
  return try mainLoop.runUntilEnd(keeping: daemon, reader)
}

/// Prints a line for the states and a line for each change, until the daemon ends. A program that
/// reads the lines can then start another watch.
private final class WatchedLines {
  private let request: WatchRequest
  private let asJSON: Bool
  private var output = Output()
  private var missed: String?
  private var hasStates = false

  init(_ request: WatchRequest, asJSON: Bool) { (self.request, self.asJSON) = (request, asJSON) }

  func handle(_ update: Update) throws {
    switch update {
    case .states(let state):
      hasStates = true
      let line = ChangeLine.text(
        of: state.states, at: state.time, for: request.machine.map { [$0] })
      // A machine that is not there has no state to show.
      let isShown = request.machine.map { state.states[$0] != nil } ?? true
      if !asJSON {
        if isShown || missed != nil {
          try output.line(line + (missed.map { " (missed \($0))" } ?? ""))
        }
      } else if missed == nil {
        try output.line(json: state)
      }
      missed = nil
    case .change(let change):
      if asJSON {
        try output.line(json: change)
      } else {
        try output.line(ChangeLine.text(of: change))
      }
    case .missed(let count):
      missed = ChangeLine.text(ofMissed: count)
      if asJSON { try output.line(json: ["missed": count.map(JSON.integer) ?? .null] as JSON) }
    case .disconnected(let reason):
      guard !hasStates, request.waits(after: reason) else { throw reason }
      reportWaiting(after: reason)
    }
    try output.flush()
  }
}

/// Prints a line whenever a status bar should show another text, until the bar closes the output.
private func printForStatusBar(_ request: WatchRequest, _ line: StatusLine) throws -> Int32 {
  var (line, hasBegun) = (line, false)
  return try followUntilUnread(request, of: line.followed, retries: request.mayWait) { update in
    if case .disconnected(let reason) = update {
      guard request.mayWait else { throw reason }
      if !hasBegun {
        let isWaiting = request.waits(after: reason)
        reportWaiting(after: reason, isWaiting ? "waiting for it" : "trying again")
      }
    }
    hasBegun = true
    if let next = line.handle(update) { try Output.print(next) }
  }
}
