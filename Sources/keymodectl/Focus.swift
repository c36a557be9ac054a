import Acting
import CommandLineTools
import SystemCalls

/// `keymodectl focus`: sends `tapTextField` and `tapBlankArea` while text fields of the desktop get and
/// lose the focus, until a signal ends it.
func focus(_ invocation: Invocation) throws -> Int32 {
  let follower = try FocusFollower(of: invocation.daemon.directory, report: { complain($0) })
  do {
    try follower.follow(anySession: invocation.anySession)
  } catch FocusFollower.End.signal(let number) {
    Signals.deliver(number)
    return 128 + number
  }
}
