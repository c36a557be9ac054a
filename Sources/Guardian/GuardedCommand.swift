import Glibc
public import SystemCalls

/// A command that a guardian, a process of its own, runs once at a time and ends with all its
/// descendants, also when this process is killed.
///
///     let command = try GuardedCommand(["pw-record", "speech.wav"], grace: .milliseconds(500))
///     command.start()
///     command.end()
///     // When `descriptor` is readable, `next()` tells that it has ended.
///
/// Orders are carried out in turn. The guardian is this same program, started again, which must
/// call ``GuardianProcess/run()`` where ``GuardianProcess/isWanted``.
public final class GuardedCommand {
  /// What became of the command.
  public enum Outcome: Hashable, Sendable {
    /// It could not be started, for this `errno`.
    case failed(Int32)
    /// It has ended, with this exit status, and nothing of it is left.
    case exited(Int32)
    /// This signal ended it, and nothing of it is left.
    case signalled(Int32)
    /// The guardian was killed. Then everything that it left was killed too.
    case abandoned
  }

  private let socket: PacketSocket
  private let guardian: Int32
  /// Children that this process had before, which are not the command's.
  private let others: Set<Int32>
  private var isOver = false

  /// The descriptor to wait on for reading; then call ``next()`` until it returns `nil`.
  public var descriptor: Int32 { socket.number }

  /// Starts the guardian of a command, and not yet the command.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments; at least the program.
  ///   - grace: how long the command and its descendants may take to end before they are killed.
  /// - Throws: the error of the system call that failed, such as `E2BIG`.
  public init(_ command: [String], grace: Duration) throws(SystemError) {
    // What a killed guardian leaves becomes a child of this process, which can then kill it.
    try adoptOrphans()
    others = Set(ProcessEntry.all().filter { $0.parent == getpid() }.map(\.number))
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    try retrying("make", "a pair of sockets") { socketpair(AF_UNIX, type, 0, &ends) }
    let ours = FileDescriptor(owning: ends[0])
    let theirs = FileDescriptor(owning: ends[1])
    guardian = try Self.spawn(
      [
        "keymode-guardian", GuardianProcess.option, "\(theirs.number)",
        "\(grace.wholeMicroseconds)", "--",
      ]
        + command, passing: theirs.number)
    socket = PacketSocket(owning: ours)
  }

  deinit { close() }

  /// Starts the command, with these variables besides those of this process.
  ///
  /// - Precondition: it does not run: it was not started, or its outcome is known.
  public func start(adding variables: [(name: String, value: String)] = []) {
    let packet = Order.start(variables.map { "\($0.name)=\($0.value)" }).packet
    order(packet)
  }

  /// Ends the command by SIGTERM; see ``end(by:)``.
  public func end() { end(by: SIGTERM) }

  /// Ends the command, by this signal to its process group; after the grace, by SIGKILL to all its
  /// descendants. Another call sends another signal, and puts off nothing.
  public func end(by signal: Int32) { order(Order.end(signal).packet) }

  /// Passes a signal on to the command's process group, if the command runs.
  public func pass(_ signal: Int32) { order(Order.pass(signal).packet) }

  private func order(_ packet: [UInt8]) {
    // A guardian that has gone is told of by `next`.
    try? socket.send(packet)
  }

  /// The next outcome; `nil` if there is none yet, and after ``Outcome/abandoned``.
  public func next() -> Outcome? {
    while !isOver {
      switch socket.next(Report.init) {
      case .message(.started): continue
      case .message(.failed(let code)): return .failed(code)
      case .message(.ended(let status)):
        // WIFEXITED and WEXITSTATUS, WTERMSIG.
        return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
      case .nothing: return nil
      case .end:
        isOver = true
        killAll()
        return .abandoned
      }
    }
    return nil
  }

  /// Waits until the guardian has gone, which first ends the command if it runs.
  public func close() {
    guard !isOver else { return }
    isOver = true
    shutdown(socket.number, Int32(SHUT_RDWR))
    while waitpid(guardian, nil, 0) < 0, errno == EINTR {}
  }

  /// Kills everything that descends from this process, except earlier children, and waits for it.
  private func killAll() {
    while true {
      // What runs as another user, by sudo for example, cannot be killed.
      let left = ProcessEntry.all().descendants(of: getpid(), excluding: others)
        .filter { kill($0.number, SIGKILL) == 0 || errno != EPERM }
      guard !left.isEmpty else { return }
      for process in left where process.parent == getpid() { waitpid(process.number, nil, 0) }
    }
  }
}

extension GuardedCommand {
  /// Starts this program again, with these arguments and this descriptor, in a process group of its
  /// own, with all signals blocked.
  private static func spawn(
    _ arguments: [String], passing descriptor: Int32
  ) throws(SystemError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Of a descriptor onto itself, this means to keep it open.
    posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor)
    // A background process that reads from its terminal is stopped.
    if isatty(STDIN_FILENO) == 1 {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    var strings = arguments.map { strdup($0) } + [nil]
    defer { for string in strings { free(string) } }
    var process: Int32 = 0
    let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &strings, environ)
    guard code == 0 else { throw SystemError("start", "a guardian", code: code) }
    return process
  }
}
