import CLinux
import Glibc

/// Makes this process the parent of all its descendants whose own parent ends. The corresponding C
/// function is `prctl(PR_SET_CHILD_SUBREAPER)`.
public func adoptOrphans() throws(SystemError) {
  let result = keymoded_adopt_orphans()
  guard result == 0 else { throw SystemError("adopt orphans", code: -result) }
}

/// Makes the kernel tell this process of children that end, and keep their statuses until it asks.
///
/// It does neither while SIGCHLD is ignored, and a process inherits that from the one that has started
/// it.
func expectChildren() { signal(SIGCHLD, SIG_DFL) }

/// Runs a program in a process group of its own, with no signal blocked or ignored. The kernel kills
/// it when this process ends.
///
/// - Parameter arguments: the program, which is looked for in `PATH`, and its arguments; ends with
///   `nil`, like `CommandLine.unsafeArgv`.
/// - Returns: its process ID, once it runs; it is also the ID of its process group.
/// - Precondition: this process has one thread.
/// - Throws: the error of `fork` or `execvp`.
public func startChild(
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) throws(SystemError) -> Int32 {
  let process = keymoded_spawn(arguments)
  guard process > 0 else { throw SystemError("run", code: -process) }
  return process
}

/// Tells, in a process with one thread, that a child has ended.
///
/// Blocks SIGCHLD, and no longer ignores it. The corresponding C function is `signalfd`.
public struct ChildSignals: ~Copyable {
  private let file: FileDescriptor

  /// The descriptor to wait on for reading.
  public var descriptor: Int32 { file.number }

  /// Throws the error of `signalfd`.
  public init() throws(SystemError) {
    expectChildren()
    var children = sigset_t()
    sigemptyset(&children)
    sigaddset(&children, SIGCHLD)
    sigprocmask(SIG_BLOCK, &children, nil)
    let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
    file = FileDescriptor(
      owning: try retrying("make", "a signalfd") { signalfd(-1, &children, flags) })
  }

  /// Makes the descriptor unreadable until the next child ends.
  public func clear() {
    var information = [UInt8](repeating: 0, count: MemoryLayout<signalfd_siginfo>.size)
    while read(file.number, &information, information.count) > 0 {}
  }
}
