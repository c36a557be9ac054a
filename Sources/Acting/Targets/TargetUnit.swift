import KeyboardModes
import Linux

/// The target that stands for one state of a machine, such as
/// `keymode-keyboard@editingText.target`.
///
/// A state's name needs no escaping in the unit's name: the daemon's configuration admits only
/// letters, digits, `-` and `_`.
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

/// What the user's service manager is asked to do with a target.
struct TargetOrder: Hashable, Sendable {
  /// The methods of the manager.
  enum Verb: String {
    case start = "StartUnit"
    case stop = "StopUnit"
  }

  let verb: Verb
  let unit: TargetUnit
}

/// What a target that is not inactive does.
enum TargetStatus: Hashable, Sendable {
  case active
  /// A job starts it.
  case starting
  /// A job stops it.
  case stopping
}

extension TargetUnit {
  /// A unit in an answer of `ListUnitsByPatterns`; `nil` if it is not the target of a state, or is
  /// inactive and without a job.
  static func listed(_ value: BusValue) -> (TargetUnit, TargetStatus)? {
    guard let values = value.elements, values.count == 10,
      let unit = values[0].text.flatMap(TargetUnit.init(name:)), let state = values[3].text,
      let job = values[8].text
    else { return nil }
    switch job {
    case "start", "restart", "try-restart": return (unit, .starting)
    case "stop": return (unit, .stopping)
    default: return state == "active" ? (unit, .active) : nil
    }
  }
}
