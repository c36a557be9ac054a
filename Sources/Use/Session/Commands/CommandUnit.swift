import Glibc
import System
import Terminal

/// Where a command of this process runs: `keymode-while-PID-command.service`, a unit of systemd.
///
/// The unit is bound to the unit that this process is in: its service, or else
/// `keymode-while-PID.scope`, into which this process moves itself. The unit's own process, the
/// keeper, waits for the end of a pipe that only this process can write to. So whatever ends this
/// process, systemd ends the command, even if the service lives on: by SIGTERM, after the grace by
/// SIGKILL, and at last by the kernel's `cgroup.kill`, because systemd kills one process after the
/// other and may miss some of a command that keeps starting more. Nothing that the command starts
/// can leave the unit by chance.
///
/// See `org.freedesktop.systemd1(5)` and `systemd.service(5)`.
final class CommandUnit {
  /// The path of the unit's control group.
  private let path: String
  private var lastRun = 0

  /// The writing end of the pipe.
  private let pipe: FileDescriptor
  private let keeper: ForeignProcess
  private let manager: ForeignProcess?

  /// Makes the unit. Returns once the manager has made it.
  ///
  /// - Parameter grace: how long the command may take to end.
  /// - Throws: ``NoCommandUnit``.
  init(grace: Duration) throws {
    // Root uses the system's manager, even under sudo in a terminal of another user's manager. Only
    // in a unit of root's own user manager does it use that one.
    let userUnit = ServiceManager.userUnit
    let isOfUser = geteuid() != 0 || userUnit != nil && ServiceManager.owner == 0
    let unit = isOfUser ? userUnit : userUnit == nil ? ServiceManager.systemUnit : nil
    let service = unit.flatMap { $0.hasSuffix(".service") ? $0 : nil }
    let address: Bus.Address = isOfUser ? .userManager : .systemManager
    let own = "keymode-while-\(getpid())"
    do {
      if service == nil {
        let number = BusValue.array(of: "u", [.uint32(UInt32(bitPattern: getpid()))])
        _ = try startUnit("\(own).scope", [("PIDs", number)], by: address)
      }
      let bound = BusValue.array(of: "s", [.string(service ?? "\(own).scope")])
      let ends = try FileDescriptor.pipe()
      defer { close(ends.reading) }
      pipe = FileDescriptor(owning: ends.writing)
      let started = try startUnit(
        "\(own)-command.service",
        [
          ("Type", .string("exec")), ("ExecStart", Self.command(["/bin/cat"])),
          ("StandardInputFileDescriptor", .descriptor(ends.reading)),
          ("StandardOutput", .string("null")),
          ("ExecStopPost", Self.command(["/bin/sh", "-c", Self.killAll])),
          // `Before` makes it stop after this process, which ends the command first.
          ("BindsTo", bound), ("Before", bound),
          ("TimeoutStopUSec", .uint64(UInt64(clamping: grace.wholeMicroseconds))),
          ("Delegate", .bool(true)), ("OOMPolicy", .string("continue")),
        ], by: address)
      keeper = try ForeignProcess(started.process)
      path = try ControlGroup.path(of: started.process)
      // Fails now, if no run could have a group.
      _ = try ControlGroup(at: "\(path)/run-0")
      manager = try started.manager.map { process in try ForeignProcess(process.number) }
    } catch let error as any TerminalTextConvertible {
      throw NoCommandUnit(
        text: """
          no command can be started, because systemd could not end it: \(error.text);
          'loginctl enable-linger' starts a service manager for a user without a session, and \
          'keymodectl watch --json' needs none
          """)
    }
  }

  /// Kills what is in the runs' control groups. Systemd may run this shell in the unit's inner group
  /// `.control`.
  private static let killAll = """
    unit=$$(grep ^0:: /proc/self/cgroup); unit=/sys/fs/cgroup$${unit#0::}
    for run in "$${unit%/.control}"/run-*/cgroup.kill; do test ! -w "$$run" || echo 1 >"$$run"; done
    """

  /// A command in systemd's form: the program, its arguments, and `false`, so that failures count.
  private static func command(_ arguments: [String]) -> BusValue {
    let list = BusValue.array(of: "s", arguments.map(BusValue.string))
    return .array(
      of: "(sasb)", [.structure([.string(arguments.first ?? ""), list, .bool(false)])])
  }

  /// Makes a control group for a run of the command. Throws if the unit has ended.
  func group() throws(SystemError) -> ControlGroup {
    lastRun += 1
    return try ControlGroup(at: "\(path)/run-\(lastRun)")
  }

  /// Has the loop call `lost` when the unit or its manager ends, until the returned sources are
  /// released.
  func watch(
    on loop: EventLoop, lost: @escaping (NoCommandUnit) -> Void
  ) throws(SystemError) -> [EventSource] {
    let stopped = NoCommandUnit(
      text: "systemd's unit of the command was stopped; so was the command")
    let ended = NoCommandUnit(text: "the service manager has ended; so has the command")
    var sources = [try loop.addIO(keeper.descriptor, .readable) { _ in lost(stopped) }]
    if let manager {
      sources.append(try loop.addIO(manager.descriptor, .readable) { _ in lost(ended) })
    }
    return sources
  }
}

/// Why no command can be started, or why it has ended with its unit.
struct NoCommandUnit: Error, TerminalTextConvertible {
  let text: TerminalText
}

/// Has a service manager start a new unit, and waits until it has.
///
/// - Returns: the unit's process, and the manager's.
private func startUnit(
  _ name: String, _ properties: [(name: String, value: BusValue)], by address: Bus.Address
) throws -> (process: Int32, manager: PeerProcess?) {
  let run = try Run<Int32>()
  var job: String?
  // The manager, once it is made: its own closure calls it.
  var known: SystemdManager?
  let manager = try SystemdManager(address, on: run.loop) { end in
    guard end.job == job else { return }
    guard end.result == "done" else {
      return run.fail(NoCommandUnit(text: "the job for its unit ended as '\(end.result)'"))
    }
    known?.call("GetUnitProcesses", [.string(name)]) { answer in
      // Each process is its control group, its number and its command line.
      guard case .success(let values) = answer,
        case .uint32(let number) = values.first?.elements?.first?.elements?.dropFirst().first
      else { return run.fail(NoCommandUnit(text: "its unit has no process")) }
      run.end(Int32(bitPattern: number))
    }
  } lost: {
    run.fail(SystemError("make a unit", code: ECONNRESET))
  }
  known = manager
  defer { known = nil }
  let late = try run.loop.call(after: .seconds(10)) {
    run.fail(SystemError("make a unit", code: ETIMEDOUT))
  }
  let all =
    properties + [
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
    case .success(let values): job = values.first?.text
    case .failure(let error): run.fail(error)
    }
  }
  return (try run.untilEnd(keeping: manager, late), manager.process)
}
