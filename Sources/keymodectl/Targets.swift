import Acting
import CommandLineTools
import KeymodeClient
import SystemCalls

/// `keymodectl targets`: keeps exactly the targets of the present states active in the user's service
/// manager, until a signal ends it.
@MainActor
func targets(_ operands: [String], directory: String, _ arguments: Arguments) async throws -> Int32
{
  guard operands.isEmpty else { throw UsageError("targets takes no operand") }
  let keeper = try TargetKeeper(
    following: StatesFollower(Client(directory: directory), session: session(arguments)),
    withShift: arguments.has("--shift"), tell: complain)
  Signals.deliver(try await keeper.run())
  return ExitStatus.done
}
