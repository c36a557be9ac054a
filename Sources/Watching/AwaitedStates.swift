import CommandLineTools
public import KeyboardModes
public import KeymodeInterface
public import SystemCalls

/// The states that `keymodectl wait` waits for, and those that the machines are in.
public struct AwaitedStates {
  private var wanted: [Machine: String] = [:]
  private var states: [Machine: String] = [:]

  /// The awaited state of the keyboard machine, if any. Only the daemon knows which ones it has.
  public var keyboard: String? { wanted[.keyboard] }

  /// Reads operands such as `shift=on`.
  ///
  /// - Throws: `UsageError` for another form, an unknown machine, an unknown state of Shift, and a
  ///   machine that is named twice.
  public init(_ operands: [String]) throws(UsageError) {
    for operand in operands {
      let parts = operand.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw UsageError("'\(operand)' is not MACHINE=STATE") }
      let machine = try Machine(argument: parts[0])
      if machine == .shift {
        try Self.check(parts[1], of: machine, among: ShiftRules().stateNames)
      }
      guard wanted.updateValue(parts[1], forKey: machine) == nil else {
        throw UsageError("\(machine) can be in one state only")
      }
    }
  }

  /// Checks that a machine has a state: waiting for any other would never end.
  ///
  /// - Throws: `UsageError` if `state` is not one of `states`.
  public static func check(
    _ state: String, of machine: Machine, among states: [String]
  ) throws(UsageError) {
    guard !states.contains(state) else { return }
    throw UsageError("unknown state '\(state)' of \(machine); the states are\n\(wrapped(states))")
  }

  /// Takes a message of the daemon.
  ///
  /// - Returns: whether all awaited states held at once, after one of its changes or after all.
  public mutating func take(_ message: MonitorMessage) -> Bool {
    for change in message.changes {
      states[change.machine] = change.to
      if hold { return true }
    }
    for machine in Machine.allCases { states[machine] = message.state.modes[machine] }
    return hold
  }

  private var hold: Bool { wanted.allSatisfy { states[$0.key] == $0.value } }
}

extension Machine {
  /// The machine that an argument names.
  ///
  /// - Throws: `UsageError` for any other name than `shift` and `keyboard`.
  public init(argument name: String) throws(UsageError) {
    guard let machine = Machine(rawValue: name) else {
      throw UsageError("unknown machine '\(name)'; expected shift or keyboard")
    }
    self = machine
  }
}

extension Modes {
  /// The state of one machine.
  public subscript(machine: Machine) -> String {
    switch machine {
    case .shift: shift
    case .keyboard: keyboard
    }
  }
}
