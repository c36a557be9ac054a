import Linux
import Synchronization
import Terminal

/// Waits for descriptors on behalf of tasks, with one thread for all clients of a process.
///
/// A task that blocked in a system call would hold one of the few threads that all tasks share. So
/// tasks make only nonblocking calls, and suspend until this thread resumes them. The first wait
/// starts the thread, which sleeps while nothing happens.
package final class Poller: Sendable {
  /// The thread's name in debuggers and `ps -T`.
  package static let threadName = "keymode-client"

  private typealias Wait = CheckedContinuation<Result<Bool, SystemError>, Never>

  private struct Waits {
    var last: UInt64 = 0
    var all: [UInt64: Wait] = [:]
  }

  /// The poller of the process.
  private static let shared = Result { () throws(SystemError) in try Poller() }

  private let descriptors: ReadySet
  private let waits = Mutex(Waits())

  private init() throws(SystemError) {
    let descriptors = try ReadySet()
    self.descriptors = descriptors
    try startThread(named: Self.threadName) { [self] in
      while let number = try? descriptors.wait() { end(number, .success(true)) }
    }
  }

  /// Waits until the descriptor is readable, and returns `true`; `false` if the task was cancelled.
  /// The descriptor must stay open until this returns, and no other task may wait for it.
  static func untilReadable(
    _ descriptor: Int32, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> Bool {
    do throws(SystemError) {
      return try await shared.get().wait(descriptor)
    } catch {
      throw .failed("\(error)")
    }
  }

  private func wait(
    _ descriptor: Int32, isolation: isolated (any Actor)? = #isolation
  ) async throws(SystemError) -> Bool {
    let number = waits.withLock { waits in
      waits.last += 1
      return waits.last
    }
    defer { descriptors.remove(descriptor) }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { add($0, number, descriptor) }
    } onCancel: {
      end(number, .success(false))
    }
    return try result.get()
  }

  private func add(_ wait: Wait, _ number: UInt64, _ descriptor: Int32) {
    waits.withLock { $0.all[number] = wait }
    do throws(SystemError) {
      try descriptors.add(descriptor, as: number, once: true)
    } catch {
      end(number, .failure(error))
    }
    // The handler may have run before there was a wait to end.
    if Task.isCancelled { end(number, .success(false)) }
  }

  /// Resumes a wait, once: the caller that removes it resumes it.
  private func end(_ number: UInt64, _ result: Result<Bool, SystemError>) {
    let wait = waits.withLock { $0.all.removeValue(forKey: number) }
    wait?.resume(returning: result)
  }
}
