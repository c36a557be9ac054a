import Glibc
public import System

extension EventLoop {
  /// Stops the loop at SIGINT, SIGTERM, SIGHUP or SIGQUIT. At SIGTSTP the process stops; meanwhile
  /// `terminal` is as it was at first.
  public func stopAtSignals(
    leaving terminal: SilentTerminal?
  ) throws(SystemError) -> [EventSource] {
    try addSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]) { [unowned self] number in
      guard number == SIGTSTP else { return stop() }
      SilentTerminal.stopProcess(leaving: terminal)
    }
  }
}
