import Glibc
import Synchronization
package import SystemCalls

/// Waits for descriptors on behalf of tasks, with one thread for all clients of a process.
///
/// A task that blocked in a system call would hold one of the few threads that all tasks share. So
/// tasks make only nonblocking calls, and suspend until this thread resumes them. The first wait
/// starts the thread, which sleeps in `poll` while nothing happens. All signals are blocked in it.
package final class Poller: Sendable {
  /// How a wait ended.
  package enum WaitResult: Sendable {
    /// `poll` reported an event on the descriptor.
    case ready
    /// The deadline passed.
    case timedOut
    /// The task was cancelled.
    case cancelled
  }

  private struct Wait {
    let descriptor: Int32
    let events: Int16
    let deadline: ContinuousClock.Instant?
    let continuation: CheckedContinuation<Result<WaitResult, SystemError>, Never>
  }

  private struct State {
    var waits: [UInt64: Wait] = [:]
    /// Interrupts the thread's `poll`; `nil` until the thread is started.
    var interrupt: Interrupt?
  }

  /// The thread's name in debuggers and `ps -T`.
  package static let threadName = "keymode-client"

  /// The poller of the process.
  package static let shared = Poller()

  private let state = Mutex(State())
  private let lastNumber = Atomic<UInt64>(0)

  private init() {}

  /// Waits until there is something to read, the deadline has come or the task is cancelled. The
  /// descriptor must stay open until this returns; -1 waits for the deadline alone.
  package func wait(
    toRead descriptor: Int32, until deadline: ContinuousClock.Instant? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(SystemError) -> WaitResult {
    try await wait(for: Int16(POLLIN), on: descriptor, until: deadline)
  }

  /// Waits until the other end of the descriptor is closed, or the task is cancelled.
  package func wait(
    toLose descriptor: Int32, isolation: isolated (any Actor)? = #isolation
  ) async throws(SystemError) -> WaitResult {
    // `poll` reports POLLHUP and POLLERR without being asked for them.
    try await wait(for: 0, on: descriptor, until: nil)
  }

  /// Waits until `poll` reports one of these events, the deadline has come or the task is cancelled.
  func wait(
    for events: Int16, on descriptor: Int32, until deadline: ContinuousClock.Instant?,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(SystemError) -> WaitResult {
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wait = Wait(
          descriptor: descriptor, events: events, deadline: deadline, continuation: continuation)
        add(wait, number)
      }
    } onCancel: {
      cancel(number)
    }
    return try result.get()
  }

  private func add(_ wait: Wait, _ number: UInt64) {
    let refusal: Result<WaitResult, SystemError>? = state.withLock { state in
      // `cancel` may have run before there was a wait to find. A later `cancel` finds this one.
      if Task.isCancelled { return .success(.cancelled) }
      do throws(SystemError) {
        if state.interrupt == nil { state.interrupt = try start() }
      } catch {
        return .failure(error)
      }
      state.waits[number] = wait
      return nil
    }
    if let refusal { wait.continuation.resume(returning: refusal) } else { wake() }
  }

  private func cancel(_ number: UInt64) {
    guard let wait = state.withLock({ $0.waits.removeValue(forKey: number) }) else { return }
    // While the thread polls a descriptor, the kernel keeps its file open even if it is closed.
    wake()
    wait.continuation.resume(returning: .success(.cancelled))
  }

  private func wake() { state.withLock { $0.interrupt }?.send() }

  // MARK: - The thread

  /// Starts the thread, and returns what interrupts its `poll`.
  private func start() throws(SystemError) -> Interrupt {
    let interrupt = try Interrupt()
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { _ in
        nameThread(Poller.threadName)
        Poller.shared.run()
        return nil
      }, nil)
    guard error == 0 else { throw SystemError("start", "a thread", code: error) }
    pthread_detach(thread)
    return interrupt
  }

  private func run() {
    while true {
      let (interrupt, waits) = state.withLock { state in
        (state.interrupt, state.waits.map { (number: $0.key, wait: $0.value) })
      }
      var entries = [pollfd(fd: interrupt?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)]
      // Waits without a descriptor need no entry: `poll` accepts at most RLIMIT_NOFILE entries.
      let polled = waits.filter { $0.wait.descriptor >= 0 }
      entries += polled.map { pollfd(fd: $0.wait.descriptor, events: $0.wait.events, revents: 0) }
      let deadline = waits.compactMap(\.wait.deadline).min()
      let timeout = deadline.map { ContinuousClock.now.milliseconds(to: $0) } ?? -1
      guard poll(&entries, nfds_t(entries.count), timeout) >= 0 else {
        let error = SystemError.last("poll")
        if error.code != EINTR { for (number, _) in waits { end(number, .failure(error)) } }
        continue
      }
      if entries[0].revents != 0 { interrupt?.clear() }
      let now = ContinuousClock.now
      for (entry, (number, _)) in zip(entries.dropFirst(), polled) where entry.revents != 0 {
        end(number, .success(.ready))
      }
      for (number, wait) in waits {
        if let deadline = wait.deadline, deadline <= now { end(number, .success(.timedOut)) }
      }
    }
  }

  /// Resumes a wait, unless `cancel` did: the one that removes it from the state resumes it.
  private func end(_ number: UInt64, _ result: Result<WaitResult, SystemError>) {
    let wait = state.withLock { $0.waits.removeValue(forKey: number) }
    wait?.continuation.resume(returning: result)
  }
}

extension InstantProtocol where Duration == Swift.Duration {
  /// The milliseconds until `deadline`, for `poll`; 0 if it has passed. Rounded up, because a
  /// wakeup before the deadline would need a second one.
  func milliseconds(to deadline: Self) -> Int32 {
    // At most a day, which fits an Int32; one wakeup a day costs nothing.
    let left = min(max(.zero, duration(to: deadline)), .seconds(86_400))
    let (seconds, attoseconds) = left.components
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
