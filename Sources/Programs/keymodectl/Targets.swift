import KeyboardModes
import Session
import System
import Terminal

/// `keymodectl targets`: keeps the targets of the present states active in the user's
/// service manager, until a signal ends it.
func targets(_ invocation: Invocation) throws -> Int32 {
  let arguments = invocation.arguments
  let machines =
    [.keyboard] + (arguments.has("--shift") ? [.shift] : [])
    + (arguments.has("--locks") ? Lock.allCases.map(\.machine) : [])
  let keeper = try TargetKeeper(of: machines, report: complain)
  let signal = try keeper.keep(invocation.daemon.directory, anySession: invocation.anySession)
  Signals.deliver(signal)
  return ExitStatus.done
}
