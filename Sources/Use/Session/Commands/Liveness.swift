import KeymodeClient
import System
import Terminal

/// While this program acts on a state, notices a daemon that does not answer, and tells the service
/// manager that the program lives. In a service, the manager's watchdog ends a program that hangs.
///
/// An idle program is never woken.
final class Liveness {
  /// How often the daemon is asked, and the manager told that this program lives.
  private static let interval = Duration.milliseconds(300)
  /// How long the daemon may take to answer.
  private static let patience = Duration.milliseconds(500)
  /// How long the manager waits for a sign of life before it takes this program for hung.
  private static let watchdog = Duration.seconds(1)

  private let directory: String
  private let loop: EventLoop
  private let silent: (ClientError) -> Void
  private var tick: EventSource?
  private var question: EventSource?
  private var isWatching = false

  /// - Parameter silent: called from the loop if the daemon does not answer, with the reason.
  init(
    of directory: String, on loop: EventLoop, silent: @escaping (ClientError) -> Void
  ) throws(SystemError) {
    (self.directory, self.loop, self.silent) = (directory, loop, silent)
    // Unowned, as below: this object owns the sources, which go with it.
    tick = try loop.addTimer { [unowned self] in look() }
  }

  /// Begins to ask, unless it does already.
  func begin() {
    guard !isWatching else { return }
    isWatching = true
    ServiceManager.notify("WATCHDOG_USEC=\(Self.watchdog.wholeMicroseconds)")
    look()
  }

  /// Stops until ``begin()``.
  func end() {
    guard isWatching else { return }
    isWatching = false
    question = nil
    tick?.disable()
    ServiceManager.notify("WATCHDOG_USEC=0")
  }

  private func look() {
    ServiceManager.notify("WATCHDOG=1")
    tick?.set(after: Self.interval)
    if question == nil { ask() }
  }

  private func ask() {
    question = try? loop.ask(.state, of: directory, patience: Self.patience) {
      [unowned self] result in
      question = nil
      switch result {
      // A daemon that refuses, such as one with too many clients, does not hang.
      case .success, .failure(.refused): break
      case .failure(let error): silent(error)
      }
    }
  }
}
