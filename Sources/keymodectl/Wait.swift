import KeyboardModes
import KeymodeClient
import KeymodeInterface
import SystemCalls
import Systemd

/// `keymodectl wait MACHINE=STATE…`: ends when all machines are in these states at once.
func wait(_ operands: [String], directory: String, timeout: String?) throws -> Int32 {
  guard !operands.isEmpty else { throw UsageError("wait takes at least one MACHINE=STATE") }
  var wanted: [Machine: String] = [:]
  for operand in operands {
    let (machine, state) = try condition(operand)
    guard wanted.updateValue(state, forKey: machine) == nil else {
      throw UsageError("\(machine) can be in one state only")
    }
  }
  let deadline = try timeout.map { microsecondsSinceStart() + (try seconds($0)).microseconds }
  let connection = try connectForReading(directory)
  try check(wanted, connection)
  connection.subscribe()
  var states: [Machine: String] = [:]
  func hold() -> Bool { wanted.allSatisfy { states[$0.key] == $0.value } }
  var isFirst = true
  while true {
    // The daemon tells the states at once, and what is so already holds however short the time.
    if let deadline, !isFirst {
      // Rounded up: to ask again a moment too early would be to ask twice.
      let left = max(0, deadline - microsecondsSinceStart())
      let milliseconds = Int32(clamping: (left + 999) / 1000)
      guard connection.waitForReply(milliseconds: milliseconds) else { return Status.no }
    }
    let message = try connection.nextChanges()
    isFirst = false
    // What comes at once happened one by one.
    for change in message.changes {
      states[change.machine] = change.to
      if hold() { return 0 }
    }
    for machine in Machine.allCases { states[machine] = message.state.modes[machine] }
    if hold() { return 0 }
  }
}

private func condition(_ text: String) throws(UsageError) -> (Machine, String) {
  let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
  guard parts.count == 2 else { throw UsageError("'\(text)' is not MACHINE=STATE") }
  let machine = try machine(parts[0])
  if machine == .shift { try check(parts[1], of: machine, among: ShiftRules().stateNames) }
  return (machine, parts[1])
}

/// A state that there is not would be waited for in vain. Which ones the keyboard has is for the
/// daemon's configuration to say.
private func check(_ wanted: [Machine: String], _ connection: Connection) throws {
  guard let state = wanted[.keyboard] else { return }
  let keyboard = try connection.machines().first { $0.name == Machine.keyboard.rawValue }
  try check(state, of: .keyboard, among: keyboard?.states ?? [])
}

private func check(
  _ state: String, of machine: Machine, among states: [String]
) throws(UsageError) {
  guard !states.contains(state) else { return }
  throw UsageError("unknown state '\(state)' of \(machine): it is \(listed(states, "or"))")
}
