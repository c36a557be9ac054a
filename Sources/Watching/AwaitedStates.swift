public import KeyboardModes
public import KeymodeClient
public import SystemCalls

/// The conditions that `keymodectl wait` waits for, and the states that the machines are in.
public struct AwaitedStates {
  /// What is waited for.
  public let conditions: StateConditions
  private var states: [Machine: String] = [:]

  /// Waits for these conditions.
  public init(_ conditions: StateConditions) { self.conditions = conditions }

  /// Takes an update.
  ///
  /// - Returns: whether all conditions hold at once after it.
  public mutating func take(_ update: Update) -> Bool {
    switch update {
    case .states(let state):
      for machine in Machine.allCases { states[machine] = state.modes[machine] }
    case .change(let change): states[change.machine] = change.to
    case .missed: break
    case .disconnected: states = [:]
    }
    return conditions.hold { states[$0] }
  }
}

extension Machine {
  /// The machine that an argument names.
  ///
  /// - Throws: `UsageError` for any other name than `shift` and `keyboard`.
  public init(argument name: String) throws(UsageError) {
    guard let machine = Machine(rawValue: name) else {
      throw UsageError(
        "unknown machine '\(name)'; \(suggestion(for: name, among: Machine.allCases.map(\.rawValue)))"
      )
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

  /// When the state of one machine was entered; `nil` before the machine's first change.
  public func since(_ machine: Machine) -> Time? {
    switch machine {
    case .shift: shiftSince
    case .keyboard: keyboardSince
    }
  }
}
