public import JSON
public import StateMachines

/// The type `Machine` of the interface: one machine, computed from its rules.
public struct MachineMessage: Hashable, Sendable {
  /// What an event does in a state.
  public struct Row: Hashable, Sendable {
    /// The state before the event.
    public let from: String
    /// The event.
    public let event: String
    /// The state after the event.
    public let to: String
    /// What decides between rows of one state and event; `nil` if there is only one.
    public let condition: String?
  }

  /// The name of the machine, as in changes.
  public let name: String
  /// The initial state.
  public let initial: String
  /// All states, in the order of the rules.
  public let states: [String]
  /// All events, in the order of the rules.
  public let events: [String]
  /// All transitions, in the order of the rules.
  public let rows: [Row]

  /// The machine of these rules.
  public init<R: DrawableRules>(named name: String, rules: R) {
    let diagram = Diagram(of: rules)
    self.name = name
    initial = diagram.initial
    states = diagram.states
    events = rules.samples.map(\.name).reduce(into: []) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    rows = diagram.arrows.map { arrow in
      Row(from: arrow.from, event: arrow.event, to: arrow.to, condition: arrow.condition)
    }
  }

  /// Reads a machine; `nil` if the value is not a valid machine.
  public init?(_ json: JSON) {
    guard let name = json["name"]?.string, let initial = json["initial"]?.string,
      let states = json["states"]?.strings, let events = json["events"]?.strings,
      let list = json["rows"]?.array
    else { return nil }
    rows = list.compactMap(Row.init)
    guard rows.count == list.count else { return nil }
    (self.name, self.initial, self.states, self.events) = (name, initial, states, events)
  }

  /// The machine as JSON, members in the order of the interface.
  public var json: JSON {
    [
      "name": .string(name), "initial": .string(initial), "states": JSON(states),
      "events": JSON(events),
      "rows": .array(
        rows.map { row in
          [
            "from": .string(row.from), "event": .string(row.event), "to": .string(row.to),
            "condition": row.condition.map(JSON.string) ?? .null,
          ]
        }),
    ]
  }
}

extension Diagram {
  /// The diagram of the machine in the message.
  public init(_ machine: MachineMessage) {
    self.init(
      states: machine.states, initial: machine.initial,
      arrows: machine.rows.map { row in
        Arrow(from: row.from, to: row.to, event: row.event, condition: row.condition)
      })
  }
}

extension MachineMessage.Row {
  fileprivate init?(_ json: JSON) {
    guard let from = json["from"]?.string, let event = json["event"]?.string,
      let to = json["to"]?.string
    else { return nil }
    self.init(from: from, event: event, to: to, condition: json["condition"]?.string)
  }
}

extension JSON {
  fileprivate init(_ names: [String]) { self = .array(names.map(JSON.string)) }

  /// The elements of a list of strings; `nil` for any other value.
  fileprivate var strings: [String]? {
    guard let array else { return nil }
    let strings = array.compactMap(\.string)
    return strings.count == array.count ? strings : nil
  }
}
