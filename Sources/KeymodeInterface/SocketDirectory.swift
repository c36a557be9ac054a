/// Where the sockets are.
public enum SocketDirectory {
  /// The socket that tells states and changes.
  public static let stateSocket = "state.sock"
  /// The socket that also takes events.
  public static let controlSocket = "control.sock"
  /// The variable that names the folder to clients.
  public static let variable = "KEYMODED_SOCKET_DIR"
  /// The folder of the service.
  public static let system = "/run/keymoded"

  /// The folder of a user's own daemon.
  ///
  /// - Parameter runtimeDirectory: the value of `XDG_RUNTIME_DIR`.
  public static func user(runtimeDirectory: String) -> String { "\(runtimeDirectory)/keymoded" }
}
