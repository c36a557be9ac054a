import Glibc
import KeymodeClient
import System
import Terminal
import Wire

/// The message of an error, and what the user can do about it.
func explained(_ error: ClientError) -> TerminalText {
  switch error {
  case .noDaemon(let path):
    let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    return "\(error);\n\(startAdvice(for: directory))"
  case .permissionDenied(let path, let group?): return "\(error);\n\(permissionAdvice(path, group))"
  default: return "\(error)"
  }
}

/// Why this process may not connect to the socket at `path`, and how to get the permission.
private func permissionAdvice(_ path: String, _ group: String) -> TerminalText {
  if isMember(of: group) {
    return
      "your session is older than your membership: 'sg \(group) -c COMMAND' runs a command with it, "
      + "and a restart of the computer gives it to all"
  }
  let join: TerminalText =
    "'sudo adduser $USER \(group)' and a restart of the computer allow it"
  guard ClientError.isForPersonInFront(path) else { return join }
  guard LoginSession.isLogindRunning else {
    return "systemd-logind, which knows who is in front, does not run;\n\(join)"
  }
  switch LoginSession.userInFront {
  case getuid():
    return "systemd-logind says that you are in front: 'systemctl status keymoded-seat' says more"
  case nil: return "systemd-logind says that nobody is in front;\n\(join)"
  case _?: return "systemd-logind says that another user is in front;\n\(join)"
  }
}

/// Whether the user belongs to a group now. This process still has the groups of the login.
private func isMember(of group: String) -> Bool {
  guard let user = getpwuid(getuid()), let wanted = getgrnam(group)?.pointee.gr_gid else {
    return false
  }
  var groups = [gid_t](repeating: 0, count: 1024)
  var count = Int32(groups.count)
  guard getgrouplist(user.pointee.pw_name, user.pointee.pw_gid, &groups, &count) > 0 else {
    return false
  }
  return groups.prefix(Int(count)).contains(wanted)
}

/// How to start a daemon that serves in this directory.
func startAdvice(for directory: String) -> TerminalText {
  guard directory == SocketDirectory.system else {
    var status = stat()
    if stat(directory, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      return "'\(directory)' is no folder; '--socket-dir' takes the folder of the sockets"
    }
    return "start one with 'keymoded --socket-dir \(directory)'"
  }
  return isMasked
    ? "the service is masked: 'sudo systemctl unmask keymoded' and then "
      + "'sudo systemctl start keymoded' start it"
    : "start it with 'sudo systemctl start keymoded', or one of your own with 'keymoded'"
}

/// Whether the service is masked: its file is empty, or a link to /dev/null, which `systemctl mask`
/// makes. systemd does not start such a service.
private var isMasked: Bool {
  ["/etc", "/run"].contains { folder in
    var status = stat()
    guard stat("\(folder)/systemd/system/keymoded.service", &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFCHR || status.st_size == 0
  }
}

/// Says that a command waits for a daemon. On a terminal, also says how to start one; elsewhere,
/// writes one line, for the log of a script.
func reportWaiting(after error: ClientError, _ outlook: TerminalText = "waiting for it") {
  let isForPeople = isatty(STDERR_FILENO) == 1
  let line = TerminalText(verbatim: String(error.description.map { $0 == "\n" ? " " : $0 }))
  printToStandardError(isForPeople ? "\(explained(error));\n\(outlook)" : "\(line); \(outlook)")
}
