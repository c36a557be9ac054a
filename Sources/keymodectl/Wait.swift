import KeyboardModes
import KeymodeClient
import KeymodeInterface
import SystemCalls

/// `keymodectl wait MACHINE=STATE…`: ends when all machines are in these states at once.
func wait(_ operands: [String], directory: String, timeout: Duration?) throws -> Int32 {
  guard !operands.isEmpty else { throw UsageError("wait takes at least one MACHINE=STATE") }
  var wanted: [Machine: String] = [:]
  for operand in operands {
    let (machine, state) = try condition(operand)
    guard wanted.updateValue(state, forKey: machine) == nil else {
      throw UsageError("\(machine) can be in one state only")
    }
  }
  do {
    try wait(for: wanted, directory: directory, timeout: timeout)
    return 0
  } catch ClientError.noAnswer where timeout != nil {
    return Status.no
  }
}

/// How long a daemon has at least for what it answers at once: what is so already holds however short
/// the time.
private let shortestPatience = Duration.seconds(1)

/// Returns when the machines are in these states.
private func wait(
  for wanted: [Machine: String], directory: String, timeout: Duration?
) throws {
  let start = SuspendingClock.now
  let daemon = DaemonAddress(directory, timeout: timeout.map { max($0, shortestPatience) })
  let connection = try daemon.connectForReading()
  if let state = wanted[.keyboard] {
    // A state that there is not would be waited for in vain. Which ones the keyboard has is for the
    // daemon's configuration to say.
    let keyboard = try connection.machines().first { $0.name == Machine.keyboard.rawValue }
    try check(state, of: .keyboard, among: keyboard?.states ?? [])
  }
  try connection.subscribe()
  var states: [Machine: String] = [:]
  func hold() -> Bool { wanted.allSatisfy { states[$0.key] == $0.value } }
  while true {
    let message = try connection.nextChanges()
    // The states were told at once; changes may take as long as there is time.
    connection.deadline = timeout.map { start.advanced(by: $0) }
    // What comes at once happened one by one.
    for change in message.changes {
      states[change.machine] = change.to
      if hold() { return }
    }
    for machine in Machine.allCases { states[machine] = message.state.modes[machine] }
    if hold() { return }
  }
}

private func condition(_ text: String) throws(UsageError) -> (Machine, String) {
  let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
  guard parts.count == 2 else { throw UsageError("'\(text)' is not MACHINE=STATE") }
  let machine = try machine(parts[0])
  if machine == .shift { try check(parts[1], of: machine, among: ShiftRules().stateNames) }
  return (machine, parts[1])
}

private func check(
  _ state: String, of machine: Machine, among states: [String]
) throws(UsageError) {
  guard !states.contains(state) else { return }
  throw UsageError("unknown state '\(state)' of \(machine); there are\n\(wrapped(states))")
}
