public import JSON
import KeymodeInterface
public import SystemCalls

/// Why the daemon could not be asked, or what it refused.
public enum ClientError: Error, Hashable, TerminalTextConvertible {
  /// Nobody listens on the socket at this path.
  case noDaemon(path: String)
  /// The socket at this path is for others; `whom` says for whom, where that can be seen.
  case permissionDenied(path: String, whom: String?)
  /// The daemon behind the socket at this path took no call, or did not answer one, for as long as
  /// was to be waited.
  case noAnswer(path: String)
  /// The daemon ended the connection.
  case connectionLost
  /// What came is no answer to what was asked.
  case badReply(String)
  /// The daemon answered with this error.
  case refused(name: String, parameters: JSON)
  /// The system refused something.
  case failed(String)
  /// The task that asked was cancelled.
  case cancelled

  /// What to tell the user.
  public var text: TerminalText {
    switch self {
    case .noDaemon(let path):
      "no keymoded is serving at '\(path)';\nif it serves elsewhere, say so with --socket-dir or KEYMODED_SOCKET_DIR"
    case .permissionDenied(let path, let whom):
      if let whom {
        "no permission to use '\(path)':\nit is for \(whom)"
      } else {
        "no permission to use '\(path)'"
      }
    case .noAnswer(let path):
      "keymoded does not answer at '\(path)';\n'systemctl status keymoded' says how the service is"
    case .connectionLost: "keymoded ended the connection"
    case .badReply(let what): "keymoded replied \(what)"
    case .refused(name: ControllerInterface.tooManyClients, _):
      "keymoded has as many clients as it can serve; try again later"
    case .refused(let name, let parameters): "keymoded refused: \(name) \(parameters.text)"
    case .failed(let what): "\(what)"
    case .cancelled: "cancelled"
    }
  }
}
