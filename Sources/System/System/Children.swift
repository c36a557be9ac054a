import CLinux
import Glibc

/// A program that this program has started, in a process group of its own.
public final class ChildProcess {
  /// How a process ended.
  public enum End: Hashable, Sendable {
    /// The process exited with this status.
    case exited(Int32)
    /// This signal ended the process.
    case signalled(Int32)
  }

  /// The process ID, which is also the ID of the process group.
  public let id: Int32
  private let file: FileDescriptor

  /// A descriptor that becomes readable when the process ends.
  public var descriptor: Int32 { file.number }

  /// Whether the process has ended. ``reap(waiting:)`` may still return `nil`, because a tracer of
  /// the process gets the status first.
  public var hasEnded: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// Runs a program in a control group, with no signal blocked or ignored. The program inherits the
  /// standard streams, but reads `/dev/null` instead of a terminal. The corresponding system call
  /// is `clone3`.
  ///
  /// - Parameter arguments: the program, which is looked for in `PATH`, and its arguments.
  /// - Throws: the error of `clone3` or `execvp`.
  public init(running arguments: [String], in group: ControlGroup) throws(SystemError) {
    // This process may have inherited an ignored SIGCHLD; then the kernel would keep no statuses of
    // children.
    signal(SIGCHLD, SIG_DFL)
    var strings = arguments.map { strdup($0) } + [nil]
    defer { for string in strings { free(string) } }
    var id: Int32 = 0
    let result = keymoded_spawn(&strings, group.folderDescriptor, &id)
    guard result >= 0 else { throw SystemError("run", arguments.first, code: -result) }
    self.id = id
    file = FileDescriptor(owning: result)
  }

  /// Sends a signal to the process group.
  ///
  /// - Precondition: the process is not reaped; later, another group may have its ID.
  public func send(_ signal: Int32) { Glibc.kill(-id, signal) }

  /// Kills the process itself, even if it has left its control group. Returns `false` if that is
  /// not permitted, because the process belongs to another user by now.
  public func kill() -> Bool { keymoded_kill_process(descriptor) == 0 || errno != EPERM }

  /// Returns how the process ended; `nil` while the process runs, and after the first answer. If
  /// `waiting`, waits for the end of the process.
  public func reap(waiting: Bool = false) -> End? {
    var status: Int32 = 0
    let ended = try? retrying("wait") { waitpid(id, &status, waiting ? 0 : WNOHANG) }
    guard ended == id else { return nil }
    // What the macros WIFEXITED, WEXITSTATUS and WTERMSIG compute.
    return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
  }
}

/// Waits for the end of a process that is no child. The corresponding C function is `pidfd_open`.
public final class ForeignProcess {
  private let file: FileDescriptor

  /// A descriptor that becomes readable when the process ends.
  public var descriptor: Int32 { file.number }

  /// The process with this ID. Throws `ESRCH` if there is none.
  public init(_ id: Int32) throws(SystemError) {
    let result = keymoded_open_process(id)
    guard result >= 0 else { throw SystemError("watch process", "\(id)", code: -result) }
    file = FileDescriptor(owning: result)
  }
}
