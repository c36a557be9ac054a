import KeymodeClient
import System
import Terminal
import Wire

/// Notices a daemon that does not answer, and tells the service manager that this program lives;
/// both only while the program acts on a state. In a service, the manager's watchdog ends a program
/// that hangs.
///
/// An idle program is never woken.
final class Liveness {
  /// How often this asks the daemon, and tells the manager that this program lives.
  private static let interval = Duration.milliseconds(300)
  /// How long the daemon may take to answer.
  private static let answerTimeout = Duration.milliseconds(500)
  /// How long this program may show no sign of life before the manager ends it.
  private static let watchdogTimeout = Duration.seconds(1)

  private let directory: String
  private let loop: EventLoop
  private let reportSilence: (ClientError) -> Void
  private var tick: EventSource?
  /// The last question; `nil` before the first question, and after a failure. The next question has
  /// the same connection, so that a flood of connections does not delay the answer.
  private var question: PendingAnswer<StateMessage>?
  /// The source of the answer to ``question``; after a failure, the timer that reports the failure.
  private var answerSource: EventSource?
  private var isAsking = false
  /// Whether ``question`` was ever answered.
  private var hasAnswered = false
  private var isWatching = false

  /// - Parameter reportSilence: called from the loop with the reason if the daemon does not answer.
  init(
    of directory: String, on loop: EventLoop, reportSilence: @escaping (ClientError) -> Void
  ) throws(SystemError) {
    (self.directory, self.loop, self.reportSilence) = (directory, loop, reportSilence)
    // Unowned, as below: this object owns the sources, which end with it.
    tick = try loop.addTimer { [unowned self] in beat() }
  }

  /// Begins to ask the daemon, unless ``begin()`` was called before and ``end()`` was not.
  func begin() {
    guard !isWatching else { return }
    isWatching = true
    ServiceManager.notify("WATCHDOG_USEC=\(Self.watchdogTimeout.wholeMicroseconds)")
    beat()
  }

  /// Stops until ``begin()``.
  func end() {
    guard isWatching else { return }
    isWatching = false
    forget()
    tick?.disable()
    ServiceManager.notify("WATCHDOG_USEC=0")
  }

  private func beat() {
    ServiceManager.notify("WATCHDOG=1")
    tick?.set(after: Self.interval)
    if !isAsking { ask() }
  }

  private func ask() {
    isAsking = true
    let deadline = SuspendingClock.now.advanced(by: Self.answerTimeout)
    do throws(ClientError) {
      if let question { return try question.ask(until: deadline) }
      let first = try PendingAnswer(to: .state, in: directory, until: deadline)
      question = first
      answerSource = try? loop.addIO(first.descriptor, .readable) { [unowned self] _ in
        readAnswer(to: first)
      }
    } catch {
      // Reported from the loop, after the caller of ``begin()`` has started its work.
      answerSource = try? loop.call(after: .zero) { [unowned self] in handle(error) }
    }
  }

  private func readAnswer(to question: PendingAnswer<StateMessage>) {
    do throws(ClientError) {
      guard try question.advance() != nil else { return }
      (isAsking, hasAnswered) = (false, true)
    } catch {
      handle(error)
    }
  }

  private func handle(_ error: ClientError) {
    let wasConnected = hasAnswered
    forget()
    switch error {
    // A daemon that refuses, such as one with too many clients, does not hang.
    case .refused: break
    case .connectionLost where wasConnected: ask()
    case .noDaemon, .permissionDenied, .noAnswer, .connectionLost, .badReply, .failed, .cancelled:
      reportSilence(error)
    }
  }

  private func forget() {
    (answerSource, question) = (nil, nil)
    (isAsking, hasAnswered) = (false, false)
  }
}
