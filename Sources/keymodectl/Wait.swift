import CommandLineTools
import KeyboardModes
import KeymodeClient
import SystemCalls
import Watching

/// `keymodectl wait MACHINE=STATE…`: ends when all machines are in these states at once.
func wait(_ operands: [String], directory: String, timeout: Duration?) throws -> Int32 {
  guard let conditions = try StateConditions(operands) else {
    throw UsageError("wait takes at least one MACHINE=STATE")
  }
  var awaited = AwaitedStates(conditions)
  let start = SuspendingClock.now
  let daemon = DaemonAddress(directory, timeout: timeout.map { max($0, shortestPatience) })
  do {
    let connection = try daemon.connectForReading()
    if !conditions.keyboard.isEmpty { try conditions.check(connection.machines()) }
    try connection.subscribe()
    while try !awaited.take(connection.nextChanges()) {
      // The first message came at once; from now on the user's timeout is the limit.
      connection.deadline = timeout.map { start.advanced(by: $0) }
    }
    return ExitStatus.done
  } catch ClientError.noAnswer where timeout != nil {
    return ExitStatus.no
  }
}

/// The minimum time for answers that the daemon gives at once, however short the user's timeout is:
/// states that hold already end the wait.
private let shortestPatience = Duration.seconds(1)
