import Acting
import CommandLineTools
import KeymodeClient
import SystemCalls

/// `keymodectl focus`: sends `tapTextField` and `tapBlankArea` while text fields of the desktop get and
/// lose the focus, until a signal ends it.
@MainActor
func focus(_ operands: [String], directory: String, _ arguments: Arguments) async throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("focus takes no operand") }
  let follower = try FocusFollower(
    Client(directory: directory), session: session(arguments),
    report: { complain($0) })
  do {
    try await follower.run()
  } catch FocusFollower.End.signal(let number) {
    Signals.deliver(number)
    return 128 + number
  }
  return ExitStatus.done
}
