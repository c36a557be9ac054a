import Glibc
import KeymodeClient
import Terminal
import Wire

/// The message of an error, and what the user can do about it.
func explained(_ error: ClientError) -> TerminalText {
  switch error {
  case .noDaemon(let path):
    let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    return "\(error);\n\(advice(directory))"
  case .permissionDenied(_, let group?):
    return "\(error);\n'sudo adduser $USER \(group)' and a restart of the computer allow it"
  default: return "\(error)"
  }
}

/// How to start a daemon that serves in this directory.
func advice(_ directory: String) -> TerminalText {
  directory == SocketDirectory.system
    ? "start it with 'sudo systemctl start keymoded', or one of your own with 'keymoded'"
    : "start one with 'keymoded --socket-dir \(directory)'"
}

/// Says that a command waits for a daemon: on a terminal also how to start one, elsewhere in one
/// line, as for a script's log.
func tellOfWaiting(_ error: ClientError) {
  let isForPeople = isatty(STDERR_FILENO) == 1
  complain(isForPeople ? "\(explained(error));\nwaiting for it" : "\(error); waiting for it")
}
