import KeyboardModes

/// The target that stands for one state of a machine, such as `keymode-keyboard@editingText.target`.
struct TargetUnit: Hashable, Sendable {
  let machine: Machine
  /// The state: the instance's name, which `%i` is in a unit.
  let state: String

  /// The target of a state. `nil` if systemd would not take the state as part of a unit's name.
  ///
  /// Every name that the daemon's configuration admits is one, as it is: it consists of letters,
  /// digits, `-` and `_`. Only a daemon that is not keymoded can have others.
  init?(_ machine: Machine, _ state: String) {
    guard !state.isEmpty, state.utf8.count <= Self.longestState, state.utf8.allSatisfy(isPlain)
    else { return nil }
    (self.machine, self.state) = (machine, state)
  }

  /// The target of this name, if it is one of a state.
  init?(name: String) {
    for machine in Machine.allCases {
      let prefix = Self.prefix(of: machine)
      guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix) else { continue }
      let state = name.utf8.dropFirst(prefix.utf8.count).dropLast(Self.suffix.utf8.count)
      self.init(machine, String(decoding: state, as: UTF8.self))
      return
    }
    return nil
  }

  /// The unit's name.
  var name: String { Self.prefix(of: machine) + state + Self.suffix }

  /// A pattern of the names of all targets of a machine.
  static func pattern(of machine: Machine) -> String { prefix(of: machine) + "*" + suffix }

  /// A unit's name has at most 255 bytes.
  private static let longestState = 200
  private static let suffix = ".target"
  private static func prefix(of machine: Machine) -> String { "keymode-\(machine.rawValue)@" }
}

private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
    true
  default: false
  }
}
