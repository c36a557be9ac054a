public import KeyboardModes
public import StateMachines

/// The type `Machine` of the interface: one machine, computed from its rules.
public struct MachineMessage: Hashable, Sendable, JSONWritable {
  /// The name of the machine, as in changes.
  public let name: String
  /// The initial state.
  public let initial: String
  /// The names of all states, in the order in which the rules list the states.
  public let states: [String]
  /// The names of all events, in the order in which the rules list the events.
  public let events: [String]
  /// All transitions, in the order of the ``states`` that they leave.
  public let rows: [Diagram.Arrow]

  /// The machine of these rules.
  public init<R: DrawableRules>(named name: String, rules: R) {
    let diagram = Diagram(of: rules)
    self.name = name
    initial = diagram.initial
    states = diagram.states
    events = rules.eventNames
    rows = diagram.arrows
  }

  /// All machines with these settings, in the order of the interface.
  public static func all(of settings: Settings) -> [MachineMessage] {
    [MachineMessage(named: MachineName.shift.rawValue, rules: settings.shift)]
      + settings.machines.map { MachineMessage(named: $0.name.rawValue, rules: $0.table) }
      + Lock.allCases.map { MachineMessage(named: $0.machine.rawValue, rules: LockRules()) }
  }

  /// Writes the machine as an object. The members have the order of the interface.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("initial", initial)
      json.member("states", states)
      json.member("events", events)
      json.member("rows", rows)
    }
  }

  /// Reads a machine; `nil` if the value is not a valid machine.
  public init?(_ json: JSON) {
    guard let name = json["name"]?.string, let initial = json["initial"]?.string,
      let states = json["states"]?.elements(\.string),
      let events = json["events"]?.elements(\.string),
      let rows = json["rows"]?.elements(Diagram.Arrow.init)
    else { return nil }
    (self.name, self.initial, self.states, self.events) = (name, initial, states, events)
    self.rows = rows
  }
}

extension Diagram {
  /// The diagram of the machine in the message.
  public init(_ machine: MachineMessage) {
    self.init(states: machine.states, initial: machine.initial, arrows: machine.rows)
  }
}

/// The type `Row` of the interface.
extension Diagram.Arrow: JSONWritable {
  /// Writes the arrow as an object. The members have the order of the interface.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("from", from)
      json.member("event", event)
      json.member("to", to)
      json.member("condition", condition)
    }
  }

  fileprivate init?(_ json: JSON) {
    guard let from = json["from"]?.string, let event = json["event"]?.string,
      let to = json["to"]?.string
    else { return nil }
    self.init(from: from, to: to, event: event, condition: json["condition"]?.string)
  }
}
