import CSwiftConcurrency
import Glibc
import Synchronization

/// Runs all tasks of the program on its main thread, one after the other, instead of on the runtime's
/// pool of threads.
///
/// The pool wakes up once a second for as long as the program lives: libdispatch then counts its
/// busy threads. A program that mostly waits should sleep instead.
///
/// Tasks may be resumed from any thread. A task that blocks, blocks all others.
public enum MainThread {
  private static let queue = Mutex<[UnownedJob]>([])
  /// Is posted when the queue is no longer empty.
  nonisolated(unsafe) private static let available: UnsafeMutablePointer<sem_t> = {
    let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
    return semaphore
  }()

  private typealias Enqueue = @convention(thin) (UnownedJob, UnsafeRawPointer) -> Void
  private typealias Drain = @convention(thin) (UnsafeRawPointer, UnsafeRawPointer) -> Void

  /// Makes all tasks run here from now on. Call this on the main thread, before the first `await`.
  @MainActor
  public static func runAllTasks() {
    let global: Enqueue = { job, _ in MainThread.add(job) }
    let main: Enqueue = { job, _ in MainThread.add(job) }
    let drain: Drain = { _, _ in MainThread.run() }
    keymoded_set_hooks(
      unsafeBitCast(global, to: UnsafeMutableRawPointer.self),
      unsafeBitCast(main, to: UnsafeMutableRawPointer.self),
      unsafeBitCast(drain, to: UnsafeMutableRawPointer.self))
  }

  private static func add(_ job: UnownedJob) {
    let isFirst = queue.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    if isFirst { sem_post(available) }
  }

  /// Runs jobs until one of them ends the program.
  private static func run() -> Never {
    while true {
      while sem_wait(available) != 0 {}
      let jobs = queue.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      for job in jobs { job.runSynchronously(on: MainActor.sharedUnownedExecutor) }
    }
  }
}
