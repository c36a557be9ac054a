import Glibc
import Linux
import Terminal

/// Where a command of this process runs: a scope of systemd.
///
/// The scope `keymode-while-PID-command.scope` is bound to the unit that this process is in. So
/// when this process ends, whatever ended it, systemd ends the command, by SIGTERM and after the
/// grace by SIGKILL; and nothing that the command starts can leave the scope by chance. The unit is
/// that of the service that this process belongs to, or else `keymode-while-PID.scope`, into which
/// this process moves itself.
///
/// Such a scope ends with its last process. So a shell, the keeper, waits in it. If this process
/// ends without having closed the scope, its pipe to the keeper ends too, and the keeper has
/// systemd end the scope, even where the service lives on.
///
/// See `org.freedesktop.systemd1(5)` and `systemd.scope(5)`.
final class CommandScope {
  /// The path of the scope's control group.
  private let path: String
  private var lastRun = 0

  private let keeper: Keeper
  private let manager: ForeignProcess?

  /// Makes the scope. Returns once the manager has made it.
  ///
  /// - Parameter grace: how long the command may take to end.
  /// - Throws: ``NoCommandScope``.
  init(grace: Duration) throws {
    // Root uses the system's manager, even in a terminal of another user, which is in a unit of
    // hers. In a unit of root's own user manager, it uses that one.
    let userUnit = ServiceManager.userUnit
    let isOfUser = geteuid() != 0 || userUnit != nil && ServiceManager.owner == 0
    let unit = isOfUser ? userUnit : userUnit == nil ? ServiceManager.systemUnit : nil
    let own = "keymode-while-\(getpid())"
    let name = "\(own)-command.scope"
    do {
      keeper = try Keeper(of: name, by: isOfUser ? "--user" : "--system")
      let address: Bus.Address = isOfUser ? .userManager : .systemManager
      let isInService = unit?.hasSuffix(".service") == true
      if !isInService { _ = try makeScope("\(own).scope", of: getpid(), [], by: address) }
      let bound = BusValue.array(
        of: "s", [.string(isInService ? unit ?? "" : "\(own).scope")])
      let process = try makeScope(
        name, of: keeper.process.number,
        [
          ("BindsTo", bound), ("After", bound),
          ("TimeoutStopUSec", .uint64(UInt64(clamping: grace.wholeMicroseconds))),
          ("Delegate", .bool(true)),
        ], by: address)
      path = try ControlGroup.path(of: keeper.process.number)
      // An error that each run would have is better told now.
      _ = try ControlGroup(at: "\(path)/run-0")
      manager = try process.map { process in try ForeignProcess(process.number) }
    } catch let error as any TerminalTextConvertible {
      throw NoCommandScope(
        text: """
          no command can be started, because systemd could not end it: \(error.text);
          'loginctl enable-linger' starts a service manager for a user without a session, and \
          'keymodectl watch --json' needs none
          """)
    }
  }

  /// Makes a control group for a run of the command. Throws where the scope has ended.
  func group() throws(SystemError) -> ControlGroup {
    lastRun += 1
    return try ControlGroup(at: "\(path)/run-\(lastRun)")
  }

  /// Calls `lost`, from the loop, if the scope or its manager has ended; until the sources
  /// are released.
  func watch(
    on loop: EventLoop, lost: @escaping (NoCommandScope) -> Void
  ) throws(SystemError) -> [EventSource] {
    let stopped = NoCommandScope(
      text: "systemd's scope of the command was stopped; so was the command")
    let ended = NoCommandScope(text: "the service manager has ended; so has the command")
    var sources = [try loop.addIO(keeper.process.descriptor, .readable) { _ in lost(stopped) }]
    if let manager {
      sources.append(try loop.addIO(manager.descriptor, .readable) { _ in lost(ended) })
    }
    return sources
  }

  /// Ends the scope, in which no command may run any more.
  func close() { keeper.dismiss() }
}

/// A shell that keeps a scope while no command runs. If this process ends without dismissing it,
/// the shell has systemd end the scope.
private final class Keeper {
  let process: ChildProcess
  /// The end of the pipe that only this process has.
  private let pipe: Int32

  /// - Parameter manager: the option of systemctl that says whose manager has the scope.
  init(of scope: String, by manager: String) throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    try retrying("make", "a pipe") { Glibc.pipe(&ends) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { Glibc.close(ends[0]) }
    pipe = ends[1]
    process = try ChildProcess(
      running: [
        "/bin/sh", "-c", "exec >/dev/null 2>&1; read _ || exec systemctl \"$@\"", "keymode-keeper",
        manager, "--no-block", "stop", scope,
      ], input: ends[0])
  }

  deinit { Glibc.close(pipe) }

  /// Lets it end by itself.
  func dismiss() { _ = write(pipe, "\n", 1) }
}

/// Why no command can run, or run on.
struct NoCommandScope: Error, TerminalTextConvertible {
  let text: TerminalText
}

/// Has a service manager make a scope of a process, and waits until it has.
///
/// - Returns: the manager's process.
private func makeScope(
  _ name: String, of process: Int32, _ properties: [(name: String, value: BusValue)],
  by address: Bus.Address
) throws -> PeerProcess? {
  let run = try Run<Void>()
  var made: String?
  let manager = try SystemdManager(address, on: run.loop) { end in
    guard end.job == made else { return }
    guard end.result == "done" else {
      return run.fail(NoCommandScope(text: "the job for its scope ended as '\(end.result)'"))
    }
    run.end(())
  } lost: {
    run.fail(SystemError("make a scope", code: ECONNRESET))
  }
  let late = try run.loop.call(after: .seconds(10)) {
    run.fail(SystemError("make a scope", code: ETIMEDOUT))
  }
  let all =
    properties + [
      ("PIDs", .array(of: "u", [.uint32(UInt32(bitPattern: process))])),
      ("Description", .string("keymodectl while")),
      ("CollectMode", .string("inactive-or-failed")),
    ]
  let arguments = all.map { BusValue.structure([.string($0.name), .variant($0.value)]) }
  manager.call(
    "StartTransientUnit",
    [
      .string(name), .string("replace"), .array(of: "(sv)", arguments),
      .array(of: "(sa(sv))", []),
    ]
  ) { answer in
    switch answer {
    case .success(let values): made = values.first?.text
    case .failure(let error): run.fail(error)
    }
  }
  try run.untilEnd(keeping: manager, late)
  return manager.process
}
