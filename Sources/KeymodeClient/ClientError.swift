public import JSON
import KeymodeInterface

/// Why the daemon could not be asked, or what it refused.
public enum ClientError: Error, Hashable, CustomStringConvertible {
  /// Nobody listens on the socket at this path.
  case noDaemon(path: String)
  /// The socket at this path is for others; `whom` says for whom, where that can be seen.
  case permissionDenied(path: String, whom: String?)
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
  public var description: String {
    switch self {
    case .noDaemon(let path):
      "no keymoded is serving at '\(path)';\nif it serves elsewhere, say so with --socket-dir or KEYMODED_SOCKET_DIR"
    case .permissionDenied(let path, let whom):
      "no permission to use '\(path)'" + (whom.map { ":\nit is for \($0)" } ?? "")
    case .connectionLost: "keymoded ended the connection"
    case .badReply(let what): "keymoded replied \(what)"
    case .refused(name: ControllerInterface.tooManyClients, _):
      "keymoded has as many clients as it can serve; try again later"
    case .refused(let name, let parameters): "keymoded refused: \(name) \(parameters.text)"
    case .failed(let what): what
    case .cancelled: "cancelled"
    }
  }
}
