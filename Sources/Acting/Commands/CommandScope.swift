import Glibc
import Linux
import Terminal

/// Where a command of this process runs: a scope of systemd.
///
/// The scope `keymode-while-PID-command.scope` is bound to the unit that this process is in. So when
/// this process ends, whatever ended it, systemd ends the command, by SIGTERM and after the grace by
/// SIGKILL; and nothing that the command starts can leave the scope by chance. The unit is that of the
/// service that this process belongs to, or else `keymode-while-PID.scope`, into which this process
/// moves itself.
///
/// Such a scope ends with its last process. So a keeper, a shell, waits in it for the end of a pipe. In
/// a service, whose other processes may outlive this one, it then has systemd end the scope.
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
    // Root uses the system's manager, also from a terminal of a user, which is in a unit of hers.
    let userUnit = ServiceManager.userUnit
    let isOfUser = geteuid() != 0 || userUnit != nil && ServiceManager.owner == 0
    let unit = isOfUser ? userUnit : userUnit == nil ? ServiceManager.systemUnit : nil
    let own = "keymode-while-\(getpid())"
    let name = "\(own)-command.scope"
    do {
      keeper = try Keeper(of: name, by: isOfUser ? "--user" : "--system")
      let scopes = try TransientScopes(isOfUser ? .userManager : .systemManager)
      let isInService = unit?.hasSuffix(".service") == true
      if !isInService { scopes.add("\(own).scope", of: getpid(), []) }
      let bound = BusValue.array(
        of: "s", [.string(isInService ? unit ?? "" : "\(own).scope")])
      scopes.add(
        name, of: keeper.process.number,
        [
          ("BindsTo", bound), ("After", bound),
          ("TimeoutStopUSec", .uint64(UInt64(clamping: grace.wholeMicroseconds))),
          ("Delegate", .bool(true)),
        ])
      try scopes.wait()
      path = try ControlGroup.path(of: keeper.process.number)
      // An error that each run would have is better told now.
      _ = try ControlGroup(at: "\(path)/run-0")
      manager = try scopes.manager.map { process in try ForeignProcess(process) }
    } catch let error as any TerminalTextConvertible {
      throw NoCommandScope(reason: error.text)
    }
  }

  /// Makes a control group for a run of the command. Throws where the scope has ended.
  func group() throws(SystemError) -> ControlGroup {
    lastRun += 1
    return try ControlGroup(at: "\(path)/run-\(lastRun)")
  }

  /// Calls `lost`, from the loop, if the scope or its manager has ended; until the sources are released.
  func watch(
    on loop: EventLoop, lost: @escaping (CommandScopeLost) -> Void
  ) throws(SystemError) -> [EventSource] {
    var sources = [try loop.addIO(keeper.process.descriptor, .readable) { _ in lost(.scope) }]
    if let manager {
      sources.append(try loop.addIO(manager.descriptor, .readable) { _ in lost(.manager) })
    }
    return sources
  }

  /// Ends the scope, in which no command may run any more.
  func close() { keeper.dismiss() }
}

/// A shell that keeps a scope while no command runs. If this process ends without dismissing it, it has
/// systemd end the scope.
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

/// Why the scope of a command has ended.
enum CommandScopeLost: Error, TerminalTextConvertible {
  case scope
  case manager

  var text: TerminalText {
    switch self {
    case .scope: "systemd's scope of the command was stopped; so was the command"
    case .manager: "the service manager has ended; so has the command"
    }
  }
}

/// The error that no scope can be had for a command.
private struct NoCommandScope: Error, TerminalTextConvertible {
  let reason: TerminalText

  var text: TerminalText {
    """
    no command can be started, because systemd could not end it: \(reason);
    'loginctl enable-linger' starts a service manager for a user without a session, and \
    'keymodectl watch --json' needs none
    """
  }
}

/// Orders for scopes, given to a service manager over one connection.
private final class TransientScopes {
  private static let path = "/org/freedesktop/systemd1"
  private static let interface = "org.freedesktop.systemd1.Manager"

  /// The process ID of the manager.
  let manager: Int32?
  private let loop: EventLoop
  private let bus: Bus
  private var slots: [BusSlot] = []
  private var unanswered = 0
  /// The jobs that have not ended, and the results of all that have.
  private var jobs: Set<String> = []
  private var results: [String: String] = [:]
  private var error: (any Error)?

  init(_ address: Bus.Address) throws(SystemError) {
    loop = try EventLoop()
    bus = try Bus(address, on: loop)
    manager = bus.peer?.number
    let match = BusMatch(path: Self.path, interface: Self.interface, member: "JobRemoved")
    slots = [
      try bus.signals(match) { [unowned self] values in
        guard values.count == 4, let job = values[1].text, let result = values[3].text
        else { return }
        results[job] = result
        check()
      }
    ]
  }

  /// Orders a scope for a process.
  func add(_ name: String, of process: Int32, _ properties: [(name: String, value: BusValue)]) {
    let all =
      properties + [
        ("PIDs", .array(of: "u", [.uint32(UInt32(bitPattern: process))])),
        ("Description", .string("keymodectl while")),
        ("CollectMode", .string("inactive-or-failed")),
      ]
    let arguments = all.map { BusValue.structure([.string($0.name), .variant($0.value)]) }
    let call = BusCall(
      to: nil, path: Self.path, interface: Self.interface, member: "StartTransientUnit",
      .string(name), .string("replace"), .array(of: "(sv)", arguments),
      .array(of: "(sa(sv))", []))
    unanswered += 1
    bus.call(call) { [unowned self] answer in
      unanswered -= 1
      switch answer {
      case .success(let values): if let job = values.first?.text { jobs.insert(job) }
      case .failure(let failure): error = error ?? failure
      }
      check()
    }
  }

  /// Waits until the manager has carried out all orders.
  func wait() throws {
    let late = try loop.addTimer { [unowned self] in
      error = SystemError("make a scope", code: ETIMEDOUT)
      loop.stop()
    }
    late.set(after: .seconds(10))
    try loop.run()
    if let error { throw error }
  }

  private func check() {
    let ended = jobs.compactMap { results[$0] }
    if let failure = ended.first(where: { $0 != "done" }) {
      error = error ?? BusError(name: "", message: "the job for its scope ended as '\(failure)'")
    }
    if error != nil || unanswered == 0 && ended.count == jobs.count { loop.stop() }
  }
}
