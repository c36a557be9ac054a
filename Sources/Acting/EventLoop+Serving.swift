import KeymodeClient
public import Systemd
public import SystemCalls

extension EventLoop {
  /// Serves the loop until the task is cancelled. It sleeps while nothing happens.
  ///
  /// - Throws: if the loop fails.
  @MainActor
  public func serve() async throws(SystemError) {
    try dispatchAll()
    while try await Poller.shared.wait(toRead: descriptor) == .ready { try dispatchAll() }
  }
}
