public import Terminal
public import Wire

/// Why a call or a subscription failed.
public enum ClientError: Error, Hashable, TerminalTextConvertible {
  /// There is no socket at this path, or no process listens on it.
  case noDaemon(path: String)
  /// This user may not use the socket at this path. Members of `group` may; `nil` if no group may.
  case permissionDenied(path: String, group: String?)
  /// The daemon behind the socket at this path has no room for a connection or a call, or did not
  /// answer the call by the deadline.
  case noAnswer(path: String)
  /// The daemon ended the connection.
  case connectionLost
  /// The reply is not a valid answer to the call.
  case badReply(String)
  /// The daemon answered with this error.
  case refused(name: String, parameters: JSON)
  /// A system call failed.
  case failed(String)
  /// The calling task was cancelled.
  case cancelled

  /// Whether keymoded-seat.service lets the person in front use the socket at this path.
  package static func isForPersonInFront(_ path: String) -> Bool {
    path == "\(SocketDirectory.system)/\(SocketDirectory.stateSocket)"
  }

  /// The message for the user.
  public var text: TerminalText {
    switch self {
    case .noDaemon(let path): "no keymoded listens on '\(path)'"
    case .permissionDenied(let path, let group?):
      "no permission to use '\(path)':\nonly \(Self.isForPersonInFront(path) ? "the person in front and " : "")members of the group '\(group)' may use it"
    case .permissionDenied(let path, nil): "no permission to use '\(path)'"
    case .noAnswer(let path):
      "keymoded does not answer at '\(path)';\n'systemctl status keymoded' shows the state of the service"
    case .connectionLost: "keymoded ended the connection"
    case .badReply(let what): "keymoded sent an invalid reply: \(what)"
    case .refused(name: ControllerInterface.tooManyClients, _):
      "keymoded has too many clients; try again later"
    case .refused(let name, let parameters): "keymoded refused: \(name) \(parameters.text)"
    case .failed(let what): "\(what)"
    case .cancelled: "cancelled"
    }
  }
}
