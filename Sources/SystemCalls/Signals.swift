import Glibc
import Synchronization

/// Signals that are read from a descriptor, as they came.
///
/// They are caught by a handler, for all threads: the Swift runtime has threads of its own that take
/// signals whatever others block, so that signalfd would not get them.
public final class Signals: Sendable {
  /// Where the handler writes to. One program has one set of handlers.
  private static let inlet = Atomic<Int32>(-1)
  private let outlet: FileDescriptor

  /// The descriptor, to be waited for.
  public var descriptor: Int32 { outlet.number }

  /// Catches these signals, for the rest of the program.
  public init(_ numbers: [Int32]) throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    try retrying("make", "a pipe") { pipe(&ends) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    outlet = FileDescriptor(owning: ends[0])
    Signals.inlet.store(ends[1], ordering: .sequentiallyConsistent)
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { number in
      let before = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = write(Signals.inlet.load(ordering: .relaxed), &byte, 1)
      errno = before
    }
    for number in numbers { sigaction(number, &action, nil) }
  }

  /// The next signal that has come, or `nil`.
  public func next() -> Int32? {
    var byte: UInt8 = 0
    return read(outlet.number, &byte, 1) == 1 ? Int32(byte) : nil
  }

  /// Does to this program what the signal would have done.
  public static func deliver(_ number: Int32) {
    signal(number, SIG_DFL)
    // Some of the runtime's threads block it.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
  }
}
