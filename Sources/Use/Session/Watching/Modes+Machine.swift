public import KeyboardModes
import System
public import Terminal

extension Machine {
  /// The machine that an argument names.
  ///
  /// - Throws: `UsageError` for a name that no machine has.
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
  /// The locks in one of these states.
  public func locks(_ states: LockRules.State...) -> [Machine] {
    Lock.allCases.filter { states.contains(locks[$0]) }.map(\.machine)
  }

  /// The state of one machine.
  public subscript(machine: Machine) -> String {
    switch machine {
    case .shift: shift
    case .keyboard: keyboard
    case .caps: locks[.caps].rawValue
    case .num: locks[.num].rawValue
    }
  }

  /// When the state of one machine was entered; `nil` before the machine's first
  /// change, and for locks.
  public func since(_ machine: Machine) -> Time? {
    switch machine {
    case .shift: shiftSince
    case .keyboard: keyboardSince
    case .caps, .num: nil
    }
  }
}
