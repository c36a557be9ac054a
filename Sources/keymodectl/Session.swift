import Acting
import CommandLineTools
import SystemCalls
import Systemd

/// Whether the user's session is in front, for the commands that act on states; `nil` with
/// `--any-session`, which does not look at sessions.
@MainActor
func session(_ arguments: Arguments) throws(SystemError) -> AsyncStream<SessionPresence>? {
  arguments.has("--any-session") ? nil : try LoginSession.presences()
}
