import Foundation

/// The time limit, in seconds, for everything that tests wait for. It only has to be longer than
/// the busiest machine takes.
public let boundSeconds = 120

/// An error: what a test waited for did not happen within ``boundSeconds``.
public struct TimedOut: Error {
  /// What the test waited for.
  public let waitingFor: String

  /// Creates an error that names what the test waited for.
  public init(waitingFor: String) { self.waitingFor = waitingFor }
}

/// Polls every 5 ms until `isSo` returns `true`, for conditions that no event reports.
///
/// - Throws: ``TimedOut`` after ``boundSeconds``, and what `isSo` throws.
public func wait(for what: String, until isSo: () throws -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(boundSeconds)
  while try !isSo() {
    guard ContinuousClock.now < deadline else { throw TimedOut(waitingFor: what) }
    usleep(5000)
  }
}
