import CSwiftConcurrency
import Glibc

/// Runs all tasks of the program on its main thread, one after the other, instead of on the runtime's
/// pool of threads.
///
/// The pool wakes up once a second for as long as the program lives: libdispatch then counts its
/// busy threads. A program that mostly waits should sleep instead.
///
/// Tasks may be resumed from any thread. A task that blocks, blocks all others.
public enum MainThread {
  private typealias Enqueue = @convention(thin) (UnownedJob, UnsafeRawPointer) -> Void
  private typealias Drain = @convention(thin) (UnsafeRawPointer, UnsafeRawPointer) -> Void

  /// Makes all tasks run here from now on. Call this on the main thread, before the first `await`.
  @MainActor
  public static func runAllTasks() {
    let enqueue: Enqueue = { job, _ in MainActor.shared.enqueue(job) }
    let drain: Drain = { _, _ in MainThread.run() }
    keymoded_set_hooks(
      unsafeBitCast(enqueue, to: UnsafeMutableRawPointer.self),
      unsafeBitCast(drain, to: UnsafeMutableRawPointer.self))
  }

  /// Serves the main actor's queue until one of its tasks ends the program. The runtime itself would
  /// end the main thread here, and leave the queue to the pool.
  private static func run() -> Never {
    // As the runtime does: the parent may have left signals blocked.
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    var entry = pollfd(fd: _dispatch_get_main_queue_handle_4CF(), events: Int16(POLLIN), revents: 0)
    while true {
      var count: UInt64 = 0
      // The descriptor does not block. It is cleared first, since tasks add others.
      if poll(&entry, 1, -1) == 1, read(entry.fd, &count, MemoryLayout.size(ofValue: count)) > 0 {
        _dispatch_main_queue_callback_4CF(nil)
      }
    }
  }
}
