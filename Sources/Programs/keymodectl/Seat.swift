import Session
import System
import Terminal

/// `keymodectl seat`: lets the person in front read the states, until a signal ends it.
func seat(_ invocation: Invocation) throws -> Int32 {
  let signal = try SeatKeeper(invocation.daemon.directory, report: printToStandardError).keep()
  Signals.applyDefaultAction(of: signal)
  return 128 + signal
}
