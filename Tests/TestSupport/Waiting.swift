import Foundation

/// For how long tests wait for what has to come. No test measures anything by it: it only has to be
/// longer than the busiest machine takes.
public let boundSeconds = 120

/// What was waited for did not come.
public struct TimedOut: Error {
  /// What that is.
  public let waitingFor: String

  /// An error that names what was waited for.
  public init(waitingFor: String) { self.waitingFor = waitingFor }
}

/// Looks again and again until something is so that nobody tells of.
public func wait(for what: String, until isSo: () throws -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(boundSeconds)
  while try !isSo() {
    guard ContinuousClock.now < deadline else { throw TimedOut(waitingFor: what) }
    usleep(5000)
  }
}
