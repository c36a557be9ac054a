import Acting
import CommandLineTools
import KeymodeClient
import SystemCalls
import Systemd

/// `keymodectl targets`: keeps exactly the targets of the present states active in the user's service
/// manager, until a signal ends it.
@MainActor
func targets(_ operands: [String], directory: String, _ arguments: Arguments) async throws -> Int32
{
  guard operands.isEmpty else { throw UsageError("targets takes no operand") }
  let loop = try EventLoop()
  let (inFront, told) = AsyncStream.makeStream(of: Bool.self)
  let session =
    arguments.has("--any-session") ? nil : try LoginSession(on: loop) { told.yield($0 == .inFront) }
  let follower = StatesFollower(
    Client(directory: directory), session: session == nil ? nil : inFront)
  let keeper = try TargetKeeper(
    on: loop, following: follower, withShift: arguments.has("--shift"), tell: complain)
  let signal = try await keeper.run()
  // Released only here: it follows the session.
  withExtendedLifetime(session) {}
  Signals.deliver(signal)
  return ExitStatus.done
}
