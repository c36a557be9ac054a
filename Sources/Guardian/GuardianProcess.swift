import Glibc
import StateMachines
import SystemCalls

/// The guardian of a command: a process that starts it, and ends it with all its descendants, also
/// when the process that gives the orders is killed.
///
/// It adopts the command's orphans (`PR_SET_CHILD_SUBREAPER`), so all descendants stay descendants,
/// also those that have left the command's process group or session. It has one thread, sleeps
/// while nothing happens, and takes no signal that can be blocked: its orders come by a socket,
/// whose end is an order too.
public enum GuardianProcess {
  /// The first argument that makes the program a guardian. The next are the number of its socket,
  /// the grace in microseconds, `--`, and the command.
  static let option = "--guard"

  /// The name of the process, which has at most 15 bytes: not that of the program, so that nothing
  /// that kills the program by name kills its guardian.
  static let name = "keymode-guard"

  /// The number of arguments before the command, with the program's name.
  private static let leadingArguments = 5

  /// Whether this program was started as a guardian.
  public static var isWanted: Bool {
    CommandLine.argc > 1 && CommandLine.unsafeArgv[1].map { strcmp($0, option) == 0 } == true
  }

  /// Does the work of a guardian, and returns the exit status of the program.
  public static func run() -> Int32 {
    let argument = { (index: Int) in
      index < CommandLine.argc ? CommandLine.unsafeArgv[index].map { String(cString: $0) } : nil
    }
    guard let socket = argument(2).flatMap(Int32.init), isPacketSocket(socket),
      let grace = argument(3).flatMap(Int64.init), CommandLine.argc > leadingArguments
    else {
      complain("'\(option)' is what 'while' starts itself with; it is of no other use")
      return 2
    }
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    do {
      let loop = try GuardianLoop(
        PacketSocket(owning: FileDescriptor(owning: socket)), grace: grace,
        CommandLine.unsafeArgv + leadingArguments)
      loop.run()
      return 0
    } catch {
      complain("\(error)")
      return 1
    }
  }

  private static func isPacketSocket(_ descriptor: Int32) -> Bool {
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0
      && type == Int32(SOCK_SEQPACKET.rawValue)
  }
}

/// What performs ``GuardianRules``.
private final class GuardianLoop {
  private let client: PacketSocket
  private let children: ChildSignals
  private let command: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private var machine: StateMachine<GuardianRules>
  /// The command's process group.
  private var group: Int32 = 0
  /// Whether the first process was not waited for yet, so that no other can have its number.
  private var isFirstThere = false
  /// When the group was last asked to end, in microseconds of the boot clock.
  private var asked: Int64 = 0
  private var isClientThere = true

  init(
    _ client: consuming PacketSocket, grace: Int64,
    _ command: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  ) throws(SystemError) {
    // All but those that tell of the guardian's own faults; the client has blocked them already.
    var blocked = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP] { sigdelset(&blocked, fault) }
    sigprocmask(SIG_SETMASK, &blocked, nil)
    try adoptOrphans()
    children = try ChildSignals()
    self.client = client
    self.command = command
    machine = StateMachine(GuardianRules(grace: grace))
    nameThread(GuardianProcess.name)
  }

  func run() {
    while !machine.isFinal {
      var entries = [
        pollfd(fd: children.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isClientThere ? client.number : -1, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&entries, 2, timeout) >= 0 else { continue }
      if entries[0].revents != 0 { reap() }
      if entries[1].revents != 0 { obey() }
      // Not only where `poll` timed out: children that keep ending must not put it off.
      if case .ending(let ending) = machine.state, ending.deadline <= monotonicMicroseconds() {
        take(.deadlineCame)
      }
    }
  }

  /// The milliseconds until the deadline, rounded up; -1 where there is none.
  private var timeout: Int32 {
    guard case .ending(let ending) = machine.state else { return -1 }
    let left = max(
      0, ending.deadline.subtractingReportingOverflow(monotonicMicroseconds()).partialValue)
    return Int32(clamping: left / 1000 + 1)
  }

  // MARK: - What happens

  private func obey() {
    switch client.next(Order.init) {
    case .nothing: break
    case .message(.start(let variables)): start(variables)
    case .message(.pass(let signal)): if machine.state == .running { send(signal) }
    case .message(.end(let signal)): ask(toEndBy: signal, .endOrdered(at: monotonicMicroseconds()))
    case .end:
      isClientThere = false
      ask(toEndBy: SIGTERM, .lost(at: monotonicMicroseconds()))
    }
  }

  private func start(_ variables: [String]) {
    guard machine.state == .idle else { return }
    for variable in variables {
      let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { setenv(String(parts[0]), String(parts[1]), 1) }
    }
    do {
      group = try startChild(command)
      isFirstThere = true
      report(.started(group))
      take(.started)
    } catch {
      report(.failed(error.code))
    }
  }

  /// Asks the command's process group to end. A stopped process is continued, or it could not.
  private func ask(toEndBy signal: Int32, _ event: GuardianRules.Event) {
    asked = microsecondsSinceBoot()
    send(signal)
    send(SIGCONT)
    take(event)
  }

  /// Asks for the status of each child that has ended, and lets `ending` go on.
  private func reap() {
    children.clear()
    while true {
      var status: Int32 = 0
      let process = waitpid(-1, &status, WNOHANG)
      if process > 0 {
        guard process == group, isFirstThere else { continue }
        isFirstThere = false
        take(.firstEnded(status, at: monotonicMicroseconds()))
      } else if process == 0 {
        break
      } else if errno != EINTR {
        return take(.allEnded)
      }
    }
    // What a killed process started meanwhile is now an orphan, and a child of this process.
    if case .killing = machine.state { kill(by: SIGKILL) }
  }

  // MARK: - What follows

  private func take(_ event: GuardianRules.Event) {
    guard let transition = machine.take(event) else { return }
    switch (transition.from, transition.to) {
    case (.running, .ending(let ending)) where ending.status != nil: kill(by: SIGTERM)
    // The group was asked. But a shell that was just starting a process had blocked signals: only the
    // shell got this one, and ended by it.
    case (.ending, .ending(let ending)) where ending.status != nil:
      if case .firstEnded = event { kill(by: SIGTERM, sparingAsked: true) }
    case (.ending, .killing):
      // Also what `/proc` hides from this process.
      if isFirstThere { Glibc.kill(-group, SIGKILL) }
      kill(by: SIGKILL)
    case (.ending(let ending), .idle), (.killing(let ending), .idle):
      report(.ended(ending.status ?? 0))
    case (.idle, _), (.running, _), (.ending, _), (.killing, _), (.gone, _): break
    }
  }

  private func report(_ report: Report) {
    // A client that has gone is noticed by its end of the socket.
    try? client.send(report.packet)
  }

  /// Sends a signal to the command's process group.
  private func send(_ signal: Int32) {
    guard group > 0, machine.state != .idle else { return }
    if isFirstThere {
      Glibc.kill(-group, signal)
    } else {
      // The number may be another group's by now, unless a descendant is in it.
      for process in descendants where process.group == group { Glibc.kill(process.number, signal) }
    }
  }

  /// Sends a signal to all descendants; with `sparingAsked`, not to those in the group that were asked
  /// to end already.
  private func kill(by signal: Int32, sparingAsked: Bool = false) {
    // A process whose main thread has ended looks like a zombie too, and runs on.
    for process in descendants {
      if sparingAsked, process.group == group, process.startedBefore <= asked { continue }
      Glibc.kill(process.number, signal)
      if signal == SIGTERM { Glibc.kill(process.number, SIGCONT) }
    }
  }

  private var descendants: [ProcessEntry] { ProcessEntry.all().descendants(of: getpid()) }
}
