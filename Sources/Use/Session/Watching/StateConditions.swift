public import KeyboardModes
import System
public import Terminal
public import Wire

/// Conditions such as `shift=on` and `keyboard=editingText,showingPanel`: each machine that is
/// named is in one of these states.
public struct StateConditions: Hashable, Sendable {
  private var wanted: [Machine: [String]] = [:]
  /// The operands, as they were written.
  let text: String

  /// The machine that was named first.
  public let first: Machine

  /// The machines that are named.
  public var machines: Set<Machine> { Set(wanted.keys) }

  /// Reads operands such as `shift=on,capsLock`; `nil` if there are none.
  ///
  /// - Throws: `UsageError` for an operand of another form, an unknown machine, an unknown state of
  ///   Shift or a lock, and a machine that is named twice.
  public init?(_ operands: [String]) throws(UsageError) {
    var first: Machine?
    for operand in operands {
      let parts = operand.split(separator: "=", maxSplits: 1).map(String.init)
      let states = (parts.last ?? "").split(separator: ",", omittingEmptySubsequences: false)
        .map(String.init)
      guard parts.count == 2, !states.contains("") else {
        throw UsageError("'\(operand)' is not MACHINE=STATE\(Self.hint(about: operand))")
      }
      let machine = try Machine(argument: parts[0])
      switch machine {
      case .shift: try Self.check(states, of: machine, among: ShiftRules().stateNames)
      case .caps, .num: try Self.check(states, of: machine, among: LockRules().stateNames)
      case .keyboard: break  // Only the daemon knows its states.
      }
      guard wanted.updateValue(states, forKey: machine) == nil else {
        throw UsageError(
          "\(machine) is named twice; \(machine)=STATE,STATE means one of these states")
      }
      first = first ?? machine
    }
    guard let first else { return nil }
    self.first = first
    text = operands.joined(separator: " ")
  }

  /// A hint about an operand that is perhaps the state of a machine alone.
  private static func hint(about operand: String) -> TerminalText {
    let shift = ShiftRules().stateNames
    guard let state = nearest(to: operand, among: shift + KeyboardTable.standard.stateNames),
      operand.count > 2, !operand.utf8.contains(UInt8(ascii: "=")),
      Machine(rawValue: operand) == nil
    else { return "" }
    return "; did you mean \(shift.contains(state) ? Machine.shift : .keyboard)=\(state)?"
  }

  /// Checks that the keyboard's machine, which is among these, has all states that are named: a
  /// misspelt one would never match.
  ///
  /// - Throws: `UsageError` if it lacks one.
  public func check(_ machines: [MachineMessage]) throws(UsageError) {
    let machine = machines.first { $0.name == Machine.keyboard.rawValue }
    try Self.check(wanted[.keyboard] ?? [], of: .keyboard, among: machine?.states ?? [])
  }

  private static func check(
    _ wanted: [String], of machine: Machine, among states: [String]
  ) throws(UsageError) {
    guard let unknown = wanted.first(where: { !states.contains($0) }) else { return }
    throw UsageError(
      "unknown state '\(unknown)' of \(machine); \(suggestion(for: unknown, among: states))")
  }

  /// Whether all conditions hold.
  ///
  /// - Parameter state: the state of a machine; `nil` if it is not known.
  public func hold(_ state: (Machine) -> String?) -> Bool {
    wanted.allSatisfy { machine, states in state(machine).map(states.contains) ?? false }
  }
}
