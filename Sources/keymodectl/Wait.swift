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
  let patience = Patience(until: try timeout.map(seconds))
  let connection = try connectForReading(directory)
  if let state = wanted[.keyboard] {
    // A state that there is not would be waited for in vain. Which ones the keyboard has is for the
    // daemon's configuration to say.
    connection.askForMachines()
    guard patience.lasts(for: connection, atLeast: Patience.forAnswer) else { return Status.no }
    let keyboard = try connection.nextMachines().first { $0.name == Machine.keyboard.rawValue }
    try check(state, of: .keyboard, among: keyboard?.states ?? [])
  }
  connection.subscribe()
  var states: [Machine: String] = [:]
  func hold() -> Bool { wanted.allSatisfy { states[$0.key] == $0.value } }
  // The daemon tells the states at once, and what is so already holds however short the time.
  var least = Patience.forAnswer
  while true {
    guard patience.lasts(for: connection, atLeast: least) else { return Status.no }
    let message = try connection.nextChanges()
    least = 0
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

/// For how long there is to be waited.
private struct Patience {
  private let deadline: Int64?

  /// How many microseconds a daemon has at least for what it answers at once.
  static let forAnswer: Int64 = 1_000_000

  /// - Parameter interval: from now on; `nil` for ever.
  init(until interval: Time?) {
    deadline = interval.map { microsecondsSinceStart() + $0.microseconds }
  }

  /// Waits for a reply.
  ///
  /// - Returns: whether there was one in time.
  func lasts(for connection: Connection, atLeast least: Int64) -> Bool {
    guard let deadline else { return true }
    // Rounded up: to ask again a moment too early would be to ask twice.
    let left = max(least, deadline - microsecondsSinceStart())
    return connection.waitForReply(milliseconds: Int32(clamping: (left + 999) / 1000))
  }
}

private func check(
  _ state: String, of machine: Machine, among states: [String]
) throws(UsageError) {
  guard !states.contains(state) else { return }
  throw UsageError("unknown state '\(state)' of \(machine); there are\n\(wrapped(states))")
}
