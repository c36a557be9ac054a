public import KeyboardModes
import Linux
public import Terminal

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
