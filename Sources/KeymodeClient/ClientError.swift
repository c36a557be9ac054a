public import JSON

/// Why the daemon could not be asked, or what it refused.
public enum ClientError: Error, Hashable, CustomStringConvertible {
  /// Nobody listens on the socket at this path.
  case noDaemon(path: String)
  /// The socket at this path is for members of `group`.
  case permissionDenied(path: String, group: String)
  /// The daemon ended the connection.
  case connectionLost
  /// What came is no answer to what was asked.
  case badReply(String)
  /// The daemon answered with this error.
  case refused(name: String, parameters: JSON)
  /// The system refused something.
  case failed(String)

  /// What to tell the user.
  public var description: String {
    switch self {
    case .noDaemon(let path): "no keymoded is serving at '\(path)'"
    case .permissionDenied(let path, let group):
      "no permission to use '\(path)': it is for members of the group '\(group)'"
    case .connectionLost: "keymoded ended the connection"
    case .badReply(let what): "keymoded replied \(what)"
    case .refused(let name, let parameters): "keymoded refused: \(name) \(parameters.text)"
    case .failed(let what): what
    }
  }
}
