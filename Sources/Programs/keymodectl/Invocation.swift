import KeymodeClient
import Terminal

/// The arguments of a command, and the values of options that several commands share.
struct Invocation {
  let arguments: Arguments
  /// The arguments that are not options, without the command's name.
  let operands: [String]
  /// The daemon that the command asks or follows, by `--socket-dir`.
  let daemon: DaemonAddress
  /// The time of `--timeout`; `nil` without this option.
  let timeout: Duration?

  /// Whether `--json` was given.
  var asJSON: Bool { arguments.has("--json") }
  /// Whether to wait for a daemon if none runs.
  var mayWait: Bool { !arguments.has("--no-wait") }
  /// Whether to act even in a session that is not in front.
  var anySession: Bool { arguments.has("--any-session") }

  /// - Throws: `UsageError` if the value of `--timeout` is no time.
  init(_ arguments: Arguments) throws(UsageError) {
    self.arguments = arguments
    operands = Array(arguments.operands.dropFirst())
    timeout = try arguments["--timeout"].map(microseconds).map(Duration.microseconds)
    daemon = DaemonAddress(arguments["--socket-dir"], timeout: timeout)
  }
}

/// The folder of the daemon's sockets, and the time limit for all answers to a command.
struct DaemonAddress {
  let directory: String
  private let deadline: SuspendingClock.Instant

  /// - Parameters:
  ///   - directory: the folder; by default the folder that every client uses.
  ///   - timeout: the time limit, from now on; by default the limit of every client.
  init(_ directory: String?, timeout: Duration?) {
    self.directory = Client.directory(directory)
    deadline = .now.advanced(by: timeout ?? Client.defaultTimeout)
  }

  /// Asks the daemon, and waits for its answer.
  func ask<Answer>(_ request: Request<Answer>) throws(ClientError) -> Answer {
    try PendingAnswer(to: request, in: directory, until: deadline).wait()
  }
}
