/// The sockets of the daemon and their directories.
public enum SocketDirectory {
  /// The socket for reading states and changes.
  public static let stateSocket = "state.sock"
  /// The socket that also accepts events.
  public static let controlSocket = "control.sock"
  /// The environment variable that names the directory to clients.
  public static let environmentVariable = "KEYMODED_SOCKET_DIR"
  /// The directory of the system service.
  public static let system = "/run/keymoded"

  /// The directory of a user's own daemon, within that user's `XDG_RUNTIME_DIR`.
  public static func user(runtimeDirectory: String) -> String { "\(runtimeDirectory)/keymoded" }
}
