public import KeyboardModes
public import Terminal

extension MachineName {
  /// The machine that an argument names. The machine may be one of the user's own.
  ///
  /// - Throws: `UsageError` for a name that no machine can have.
  public init(argument name: String) throws(UsageError) {
    self.init(rawValue: name)
    guard isValidName else {
      guard name.allSatisfy({ $0.isLetter || $0.isNumber }) else {
        throw UsageError(
          "'\(name)' is not the name of a machine, which has lower-case letters and digits only")
      }
      throw UsageError(unknown: self, among: MachineName.shipped.map(\.rawValue))
    }
  }
}

extension UsageError {
  /// The error about a machine that is not there.
  public init(unknown machine: MachineName, among known: [String]) {
    self.init("unknown machine '\(machine)'; \(suggestion(for: machine.rawValue, among: known))")
  }
}

extension States {
  /// The machines that are shown to people: all except the locks that are in none of these states.
  public func shownMachines(withLocks states: LockRules.State...) -> [MachineName] {
    let names = states.map(\.rawValue)
    return entries.filter { !$0.machine.isLock || names.contains($0.state) }.map(\.machine)
  }

  /// The state of a machine that a command asks for.
  ///
  /// - Throws: `UsageError` if there is no such machine.
  public func state(of machine: MachineName) throws(UsageError) -> String {
    if let state = self[machine] { return state }
    throw UsageError(unknown: machine, among: machines.map(\.rawValue))
  }
}
