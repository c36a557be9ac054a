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
  guard directory == SocketDirectory.system else {
    return "start one with 'keymoded --socket-dir \(directory)'"
  }
  return isMasked
    ? "the service is masked: 'sudo systemctl unmask keymoded' and then "
      + "'sudo systemctl start keymoded' start it"
    : "start it with 'sudo systemctl start keymoded', or one of your own with 'keymoded'"
}

/// Whether the service is a link to /dev/null, or to an empty file: `systemctl mask` keeps it from
/// being started.
private var isMasked: Bool {
  ["/etc", "/run"].contains { folder in
    var status = stat()
    guard stat("\(folder)/systemd/system/keymoded.service", &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFCHR || status.st_size == 0
  }
}

/// Says that a command waits for a daemon: on a terminal also how to start one, elsewhere in one
/// line, as for a script's log.
func tellOfWaiting(_ error: ClientError, _ outlook: TerminalText = "waiting for it") {
  let isForPeople = isatty(STDERR_FILENO) == 1
  complain(isForPeople ? "\(explained(error));\n\(outlook)" : "\(error); \(outlook)")
}
