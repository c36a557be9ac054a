import KeyboardModes

/// The target that stands for one state of a machine, such as `keymode-keyboard@editingText.target`.
///
/// Every name of a state that the daemon's configuration admits is the name of an instance, as it is: it
/// consists of letters, digits, `-` and `_`. systemd refuses any other.
struct TargetUnit: Hashable, Sendable {
  let machine: Machine
  /// The state: the instance's name, which `%i` is in a unit.
  let state: String

  /// The unit's name.
  var name: String { Self.prefix(of: machine) + state + Self.suffix }

  /// A pattern of the names of all targets of a machine.
  static func pattern(of machine: Machine) -> String { prefix(of: machine) + "*" + suffix }

  private static let suffix = ".target"
  private static func prefix(of machine: Machine) -> String { "keymode-\(machine.rawValue)@" }
}

extension TargetUnit {
  /// The target of this name, if it is one of a state.
  init?(name: String) {
    for machine in Machine.allCases {
      let prefix = Self.prefix(of: machine)
      guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix) else { continue }
      let state = name.utf8.dropFirst(prefix.utf8.count).dropLast(Self.suffix.utf8.count)
      self.init(machine: machine, state: String(decoding: state, as: UTF8.self))
      return
    }
    return nil
  }
}
