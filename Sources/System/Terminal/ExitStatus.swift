/// The exit statuses of the programs. Scripts rely on them.
public enum ExitStatus {
  /// All went well.
  public static let done: Int32 = 0
  /// The answer is no, or an operation failed.
  public static let failed: Int32 = 1
  /// The arguments are invalid.
  public static let usage: Int32 = 2
  /// There is no daemon, or it does not answer.
  public static let noDaemon: Int32 = 3
  /// A configuration or a recording is invalid.
  public static let badInput: Int32 = 4
  /// The system does not permit the action.
  public static let permissionDenied: Int32 = 5
}

/// Writes to standard error why the arguments are invalid, and how to get help.
///
/// - Parameter command: the command that got the arguments, if it has help of its own.
public func printUsageError(_ error: UsageError, of command: String? = nil) {
  let command = command.map { " \($0)" } ?? ""
  printToStandardError("\(error)\ntry '\(programName)\(command) --help'")
}
