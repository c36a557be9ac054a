import Glibc
public import System

extension EventLoop {
  /// Stops the loop at SIGINT, SIGTERM, SIGHUP or SIGQUIT. At SIGTSTP, restores `terminal` and
  /// stops the process; at SIGCONT, silences `terminal` again if the process is in the foreground.
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
