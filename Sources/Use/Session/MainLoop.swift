public import KeyboardModes
public import KeymodeClient
public import System
import Terminal

/// An event loop that runs until there is an outcome. The first outcome counts.
public final class MainLoop<Outcome> {
  /// The loop that ``runUntilEnd(keeping:)`` serves.
  public let loop: EventLoop
  private var outcome: Result<Outcome, any Error>?

  /// A run without an outcome.
  public init() throws(SystemError) { loop = try EventLoop() }

  /// Ends the run with this outcome, unless the run has an outcome already.
  public func end(_ outcome: Outcome) { end(with: .success(outcome)) }

  /// Ends the run with an error.
  public func fail(_ error: any Error) { end(with: .failure(error)) }

  /// Ends the run with an outcome or an error.
  func end(with outcome: Result<Outcome, any Error>) {
    if self.outcome == nil { self.outcome = outcome }
    loop.stop()
  }

  /// Calls `body`, unless the run has ended. An error of `body` ends the run.
  public func perform(_ body: () throws -> Void) {
    guard outcome == nil else { return }
    do { try body() } catch { fail(error) }
  }

  /// Serves the loop until the run has ended.
  ///
  /// - Parameter sources: objects that must live until the end, because the loop calls them.
  /// - Throws: the error that ended the run, or an error of the loop.
  public func runUntilEnd(keeping sources: Any?...) throws -> Outcome {
    while true {
      try loop.run()
      if let outcome { return try withExtendedLifetime(sources) { try outcome.get() } }
    }
  }
}

extension EventLoop {
  /// Calls `handler` once after `delay`, unless the returned source is released before.
  public func call(
    after delay: Duration, _ handler: @escaping () -> Void
  ) throws(SystemError) -> EventSource {
    let timer = try addTimer(handler: handler)
    timer.set(after: delay)
    return timer
  }

  /// Follows the daemon that serves in `directory`. Calls `notify` with each update, in order, and
  /// with an error if waiting would not help.
  ///
  /// The first update comes at once or, if the daemon does not answer, within five seconds.
  ///
  /// - Parameter machines: the machines whose changes are reported, at least one; `nil` for all.
  public func follow(
    _ directory: String, of machines: Set<MachineName>? = nil,
    notify: @escaping (Result<Update, ClientError>) -> Void
  ) throws -> EventSource {
    let subscription = try Subscription(to: directory, of: machines)
    return try addIO(subscription.descriptor, .readable) { _ in
      do throws(ClientError) {
        for update in try subscription.advance() { notify(.success(update)) }
      } catch {
        notify(.failure(error))
      }
    }
  }

  /// Asks the daemon that serves in `directory`. Calls `answered` once, with the answer or
  /// the error.
  ///
  /// - Parameter timeout: how long the daemon may take to answer.
  package func ask<Answer>(
    _ request: Request<Answer>, of directory: String, timeout: Duration = Client.defaultTimeout,
    _ answered: @escaping (Result<Answer, ClientError>) -> Void
  ) throws(SystemError) -> EventSource {
    let pending: PendingAnswer<Answer>
    do throws(ClientError) {
      pending = try PendingAnswer(to: request, in: directory, until: .now.advanced(by: timeout))
    } catch {
      return try call(after: .zero) { answered(.failure(error)) }
    }
    return try addIO(pending.descriptor, .readable) { _ in
      do throws(ClientError) {
        if let answer = try pending.advance() { answered(.success(answer)) }
      } catch {
        answered(.failure(error))
      }
    }
  }
}
