import Acting
import Linux
import Terminal

/// `keymodectl targets`: keeps exactly the targets of the present states active in the user's
/// service manager, until a signal ends it.
func targets(_ invocation: Invocation) throws -> Int32 {
  let keeper = try TargetKeeper(withShift: invocation.arguments.has("--shift"), tell: complain)
  let signal = try keeper.keep(invocation.daemon.directory, anySession: invocation.anySession)
  Signals.deliver(signal)
  return ExitStatus.done
}
