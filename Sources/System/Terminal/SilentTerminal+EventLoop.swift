import Glibc
public import System

extension EventLoop {
  /// Stops the loop at SIGINT, SIGTERM, SIGHUP or SIGQUIT. At SIGTSTP the process stops; meanwhile
  /// `terminal` is as it was at first. At SIGCONT the process may be in the foreground again.
  public func stopAtSignals(
    leaving terminal: SilentTerminal?
  ) throws(SystemError) -> [EventSource] {
    try addSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]) { [unowned self] number in
      switch number {
      case SIGTSTP: SilentTerminal.stopProcess(leaving: terminal)
      case SIGCONT: terminal?.enter()
      default: stop()
      }
    }
  }
}
