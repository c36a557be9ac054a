import KeyboardModes
import Session
import System
import Terminal

/// `keymodectl targets`: keeps the targets of the present states active in the user's
/// service manager, until a signal ends it.
func targets(_ invocation: Invocation) throws -> Int32 {
  let arguments = invocation.arguments
  let (hasShift, hasLocks) = (arguments.has("--shift"), arguments.has("--locks"))
  let keeper = try TargetKeeper(
    of: { $0.isLock ? hasLocks : $0 != .shift || hasShift }, report: printToStandardError)
  let signal = try keeper.keep(invocation.daemon.directory, anySession: invocation.anySession)
  Signals.applyDefaultAction(of: signal)
  return ExitStatus.done
}
