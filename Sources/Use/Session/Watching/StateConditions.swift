public import KeyboardModes
import System
public import Terminal
public import Wire

/// Conditions such as `shift=on` and `keyboard=editingText,showingPanel`: each machine that is
/// named is in one of the states after its `=`.
public struct StateConditions: Hashable, Sendable {
  private var wanted: [MachineName: [String]] = [:]
  /// The operands, as they were written.
  let text: String

  /// The machine that was named first.
  public let firstMachine: MachineName

  /// The machines that are named.
  public var machines: Set<MachineName> { Set(wanted.keys) }

  /// Reads operands such as `shift=on,capsLock`; `nil` if there are none.
  ///
  /// - Throws: `UsageError` for an operand of another form, a name that no machine can have, an
  ///   unknown state of Shift or a lock, and a machine that is named twice.
  public init?(_ operands: [String]) throws(UsageError) {
    var first: MachineName?
    for operand in operands {
      let parts = operand.split(separator: "=", maxSplits: 1).map(String.init)
      let states = (parts.last ?? "").split(separator: ",", omittingEmptySubsequences: false)
        .map(String.init)
      let isCondition = parts.count == 2 && !states.contains { $0.isEmpty || $0.hasPrefix("=") }
      guard isCondition, !parts[0].hasSuffix("!") else {
        throw UsageError("'\(operand)' is not MACHINE=STATE\(Self.hint(about: operand))")
      }
      let machine = try MachineName(argument: parts[0])
      // Only the daemon knows the states of tables.
      if machine == .shift { try Self.check(states, of: machine, among: ShiftRules().stateNames) }
      if machine.isLock { try Self.check(states, of: machine, among: LockRules().stateNames) }
      guard wanted.updateValue(states, forKey: machine) == nil else {
        throw UsageError(
          "\(machine) is named twice; \(machine)=STATE,STATE means one of these states")
      }
      first = first ?? machine
    }
    guard let first else { return nil }
    firstMachine = first
    text = operands.joined(separator: " ")
  }

  /// A hint about an operand with `!=`, `:` or `==`, or with a state but no machine.
  private static func hint(about operand: String) -> TerminalText {
    let words = operand.split { ":=!".contains($0) }
    if words.count == 2, operand.contains("!") {
      return "; name the states that count: \(String(words[0]))=STATE,STATE"
    }
    let hasDoubleSign = zip(operand, operand.dropFirst()).contains { $0 == ("=", "=") }
    if words.count == 2, operand.contains(":") || hasDoubleSign {
      return "; did you mean \(String(words[0]))=\(String(words[1]))?"
    }
    let shift = ShiftRules().stateNames
    guard let state = nearest(to: operand, among: shift + CompiledTable.shipped.stateNames),
      operand.count > 2, !operand.utf8.contains(UInt8(ascii: "=")),
      !MachineName.shipped.contains(MachineName(rawValue: operand))
    else { return "" }
    return "; did you mean \(shift.contains(state) ? MachineName.shift : .keyboard)=\(state)?"
  }

  /// Whether only the daemon can check the conditions: they name a machine whose rules are a table.
  var needDaemonCheck: Bool { machines.contains { $0 != .shift && !$0.isLock } }

  /// Checks the conditions against the daemon's machines: a misspelt state would never match.
  ///
  /// - Returns: the machines that are not there, but may come with another configuration.
  /// - Throws: `UsageError` for a state that a machine lacks, and for a machine's misspelt name.
  public func check(_ machines: [MachineMessage]) throws(UsageError) -> [MachineName] {
    var missing: [MachineName] = []
    for (machine, states) in wanted.sorted(by: { $0.key < $1.key }) {
      if let message = machines.first(where: { $0.name == machine.rawValue }) {
        try Self.check(states, of: machine, among: message.states)
      } else if nearest(to: machine.rawValue, among: machines.map(\.name)) != nil {
        throw UsageError(unknown: machine, among: machines.map(\.name))
      } else {
        missing.append(machine)
      }
    }
    return missing
  }

  private static func check(
    _ wanted: [String], of machine: MachineName, among states: [String]
  ) throws(UsageError) {
    guard let unknown = wanted.first(where: { !states.contains($0) }) else { return }
    throw UsageError(
      "unknown state '\(unknown)' of \(machine); \(suggestion(for: unknown, among: states))")
  }

  /// Whether all conditions hold.
  ///
  /// - Parameter state: returns the state of a machine; `nil` if the state is unknown or does not
  ///   count.
  public func hold(_ state: (MachineName) -> String?) -> Bool {
    wanted.allSatisfy { machine, states in state(machine).map(states.contains) ?? false }
  }
}
