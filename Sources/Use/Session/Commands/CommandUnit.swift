import Glibc
import System
import Terminal

/// The systemd unit in which a command runs: `keymode-while-PID-NAME-command.service`.
///
/// The unit is bound to the unit that this process is in: its service, or else
/// `keymode-while-PID-NAME.scope`, into which this process moves itself. The unit's own process,
/// the keeper, waits for the end of a pipe that only this process can write to. So whatever ends
/// this process, the keeper ends the command, even if the service lives on or the manager has
/// ended. The keeper sends SIGTERM and, after the grace, uses the kernel's `cgroup.kill`: killing
/// processes one by one could miss some while the command starts more. Nothing that the command
/// starts can leave the unit by chance.
///
/// When systemd stops the unit, or the keeper was killed, `ExecStop` takes the keeper's place.
/// `ExecStop` ends the keeper, unless the keeper is ending the command already, and waits until the
/// keeper has ended. This process notices that, and ends the command itself, so `ExecStop` also
/// waits for the end of the pipe. If the wait lasts until `TimeoutStopUSec`, such as while this
/// process is stopped, `ExecStop` kills the command at once. If `ExecStop` was killed,
/// `ExecStopPost` does the same. At last, systemd kills the processes that are left in the unit.
///
/// See `org.freedesktop.systemd1(5)` and `systemd.service(5)`.
final class CommandUnit {
  /// The path of the unit's control group.
  private let path: String
  private var lastRun = 0

  /// The writing end of the pipe.
  private let pipe: FileDescriptor
  /// The keeper's process; `nil` if the keeper has no number in our PID namespace.
  private let keeper: ForeignProcess?
  /// The service manager's process; `nil` if the manager has no number in our PID namespace.
  private let manager: ForeignProcess?

  /// Makes the unit. Returns once the manager has made it.
  ///
  /// - Parameter grace: how long the command may take to end.
  /// - Throws: ``NoCommandUnit``.
  init(grace: Duration) throws {
    // Root uses the system's manager, also under sudo in another user's terminal. It uses its own
    // user manager only if this process runs in a unit of that manager.
    let userUnit = ServiceManager.userUnit
    let isOfUser = geteuid() != 0 || userUnit != nil && ServiceManager.ownerID == 0
    let unit = isOfUser ? userUnit : userUnit == nil ? ServiceManager.systemUnit : nil
    let service = unit.flatMap { $0.hasSuffix(".service") ? $0 : nil }
    let address: Bus.Address = isOfUser ? .userManager : .systemManager
    let latest = grace + .seconds(2)
    // The number of this process alone might not be unique: the unit of a killed process may last
    // for the grace, and a new process may get the same number.
    let own = "keymode-while-\(getpid())-\(ServiceManager.randomID().prefix(8))"
    do {
      if service == nil {
        // 0 stands for the sender, whose number may differ in the manager's PID namespace.
        let sender = BusValue.array(of: "u", [.uint32(0)])
        _ = try startUnit("\(own).scope", [("PIDs", sender)], by: address)
      }
      let bound = BusValue.array(of: "s", [.string(service ?? "\(own).scope")])
      let ends = try FileDescriptor.pipe()
      defer { close(ends.reading) }
      pipe = FileDescriptor(owning: ends.writing)
      let (onExit, ending) = (Self.exitScript, Self.endingScript(grace: grace))
      // After `TimeoutStopUSec`, systemd sends SIGTERM.
      let stop = Self.shell(
        """
        trap exit TERM; \(onExit)
        kill $MAINPID
        while read -r _ _ state _ </proc/${MAINPID:-none}/stat && test $state != Z; do sleep 0.02; done
        read -r _
        \(ending)
        """)
      let started = try startUnit(
        "\(own)-command.service",
        [
          ("Type", .string("exec")),
          ("ExecStart", Self.shell("read -r _; trap '' TERM; \(onExit)\n\(ending)")),
          ("ExecStop", stop), ("ExecStopPost", stop),
          ("StandardInputFileDescriptor", .descriptor(ends.reading)),
          ("StandardOutput", .string("null")), ("StandardError", .string("null")),
          // `Before` makes the unit stop after this process, which ends the command first.
          ("BindsTo", bound), ("Before", bound), ("KillMode", .string("mixed")),
          ("TimeoutStopUSec", .uint64(UInt64(clamping: latest.wholeMicroseconds))),
          ("Delegate", .bool(true)), ("OOMPolicy", .string("continue")),
        ], by: address)
      path = try ControlGroup.path(of: started.group)
      guard let number = ControlGroup.processes(path).first else {
        throw NoCommandUnit(text: "its unit has ended")
      }
      keeper = number > 0 ? try ForeignProcess(number) : nil
      // Makes a group only to fail now if no run could have a group.
      _ = try ControlGroup(at: "\(path)/run-0")
      manager = try started.manager.map { process in try ForeignProcess(process.id) }
    } catch {
      throw NoCommandUnit(
        text: """
          no command can be started, because systemd could not end it: \(error);
          'loginctl enable-linger' starts a service manager for a user without a session, and \
          'keymodectl watch --json' needs none
          """)
    }
  }

  /// Finds the unit's group, and kills all runs in it when the shell ends. Starts no process,
  /// because that might fail. Systemd may run the shell in the inner group `.control`.
  private static let exitScript = #"""
    while IFS=: read -r tree _ unit && test "$tree" != 0; do :; done </proc/self/cgroup
    for root in /sys/fs/cgroup/unified /sys/fs/cgroup; do cd "$root${unit%/.control}" && break; done
    trap 'for run in run-*; do test ! -w $run/cgroup.kill || echo 1 >$run/cgroup.kill; done' EXIT
    """#

  /// Asks all processes of the runs to end, and waits until they have ended or the grace is over.
  /// Once all asked processes have ended, asks the processes that they left behind. Times are in
  /// hundredths of a second since boot.
  private static func endingScript(grace: Duration) -> String {
    #"""
    list() {
      for inner in "$1"/*/ "$1"/.[!.]*/; do test ! -d "$inner" || list "${inner%/}"; done
      while read -r process; do
        present="$present $process"
        case "$asked " in *" $process "*) known=yes ;; esac
      done <"$1/cgroup.procs"
    }
    now() { read -r time _ </proc/uptime; time=${time%.*}${time#*.}; }
    now; end=$((time + \#(grace.wholeMicroseconds / 10_000) + 1))
    while present= known=; for run in run-*; do list "$run"; done; test "$present"; do
      if test ! "$known"; then
        asked=$present
        for signal in TERM CONT; do
          for process in $asked; do test "$process" = 0 || kill -s $signal "$process"; done
        done
      fi
      now; test $time -lt $end || break
      sleep 0.02
    done
    """#
  }

  /// A shell with this script, in systemd's form: the program, its arguments, and `true` to ignore
  /// a failure. Otherwise systemd would kill the command at once after a failure.
  private static func shell(_ script: String) -> BusValue {
    // `$$` keeps systemd from replacing the shell's variables.
    let text = script.split(separator: "$", omittingEmptySubsequences: false).joined(
      separator: "$$")
    let list = BusValue.array(of: "s", ["/bin/sh", "-c", text].map(BusValue.string))
    return .array(of: "(sasb)", [.structure([.string("/bin/sh"), list, .bool(true)])])
  }

  /// Makes a control group for a run of the command. Throws if the unit has ended.
  func makeGroup() throws(SystemError) -> ControlGroup {
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
    var sources: [EventSource] = []
    for case (let process?, let reason) in [(keeper, stopped), (manager, ended)] {
      sources.append(try loop.addIO(process.descriptor, .readable) { _ in lost(reason) })
    }
    return sources
  }
}

/// Why no command can be started, or why a command has ended together with its unit.
struct NoCommandUnit: Error, TerminalTextConvertible {
  let text: TerminalText
}

/// Has a service manager start a new unit, and waits until the unit has started.
///
/// - Returns: the path of the unit's control group below the root of all groups, and the manager's
///   process.
private func startUnit(
  _ name: String, _ properties: [(name: String, value: BusValue)], by address: Bus.Address
) throws -> (group: String, manager: PeerProcess?) {
  let mainLoop = try MainLoop<String>()
  var job: String?
  // The closure needs the manager, but is made before the manager.
  var known: SystemdManager?
  let manager = try SystemdManager(address, on: mainLoop.loop) { end in
    guard end.job == job else { return }
    guard end.result == "done" else {
      return mainLoop.fail(NoCommandUnit(text: "the job for its unit ended as '\(end.result)'"))
    }
    known?.call("GetUnitProcesses", [.string(name)]) { answer in
      // The answer has the control group, the number and the command line of each process.
      guard case .success(let values) = answer,
        let group = values.first?.elements?.first?.elements?.first?.text
      else { return mainLoop.fail(NoCommandUnit(text: "its unit has no process")) }
      mainLoop.end(group)
    }
  } lost: {
    mainLoop.fail(SystemError("make a unit", code: ECONNRESET))
  }
  known = manager
  defer { known = nil }
  let late = try mainLoop.loop.call(after: .seconds(10)) {
    mainLoop.fail(SystemError("make a unit", code: ETIMEDOUT))
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
    case .failure(let error): mainLoop.fail(error)
    }
  }
  return (try mainLoop.runUntilEnd(keeping: manager, late), manager.process)
}
