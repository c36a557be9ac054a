import Glibc
import Synchronization
public import Terminal

/// Signals, read from a descriptor in the order in which they were caught.
///
/// A handler catches them for all threads. A signalfd would miss some, because threads of the Swift
/// runtime take signals even if all other threads block them.
public final class Signals: Sendable {
  /// The end of the pipe that the handler writes to; static, as handlers belong to the process.
  private static let inlet = Atomic<Int32>(-1)
  private let outlet: FileDescriptor

  /// The descriptor to wait on for reading.
  public var descriptor: Int32 { outlet.number }

  /// Catches these signals, for the rest of the process's life. Throws the error of `pipe`.
  public init(_ numbers: [Int32]) throws(SystemError) {
    let ends = try FileDescriptor.pipe()
    for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    outlet = FileDescriptor(owning: ends.reading)
    Signals.inlet.store(ends.writing, ordering: .sequentiallyConsistent)
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { number in
      let before = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = write(Signals.inlet.load(ordering: .relaxed), &byte, 1)
      errno = before
    }
    for number in numbers { sigaction(number, &action, nil) }
    // The process that started this one may have blocked them.
    Signals.unblock(numbers)
  }

  /// The next signal that was caught; `nil` if there is none.
  public func next() -> Int32? {
    var byte: UInt8 = 0
    return read(outlet.number, &byte, 1) == 1 ? Int32(byte) : nil
  }

  /// Whether this process ignores the signal, as a program that `nohup` starts ignores SIGHUP.
  public static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN, which is no function.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Applies the signal's default action to this process.
  public static func deliver(_ number: Int32) {
    signal(number, SIG_DFL)
    // Some of the runtime's threads block the signal, and this may run on one of them.
    unblock([number])
    raise(number)
  }

  private static func unblock(_ numbers: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}

extension EventLoop {
  /// Calls `handler` with each of these signals that the process receives, in order. They are
  /// caught for the rest of the process's life.
  public func addSignals(
    _ numbers: [Int32], handler: @escaping (Int32) -> Void
  ) throws(SystemError) -> EventSource {
    let signals = try Signals(numbers)
    return try addIO(signals.descriptor, .readable) { _ in
      while let number = signals.next() { handler(number) }
    }
  }
}
