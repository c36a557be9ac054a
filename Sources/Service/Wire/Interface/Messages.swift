public import KeyboardModes

extension Time: JSONWritable {
  /// Writes the microseconds.
  public func write(to json: inout JSONWriter) { microseconds.write(to: &json) }

  /// Reads microseconds; `nil` unless the value is an integer.
  init?(_ json: JSON) {
    guard let microseconds = json.integer else { return nil }
    self.init(microseconds: microseconds)
  }
}

extension MachineName: JSONWritable {
  /// Writes the name.
  public func write(to json: inout JSONWriter) { rawValue.write(to: &json) }
}

/// The type `State` of the interface.
public struct StateMessage: Hashable, Sendable, JSONWritable {
  /// The name of this sequence of changes; a new sequence begins again at number 1.
  public let instance: String
  /// When the daemon composed this message.
  public let time: Time
  /// The states of all machines, and the number of the last change.
  public let states: States
  /// When a press of Shift counts.
  public let shiftTrigger: Settings.ShiftTrigger

  /// Each parameter sets the property of the same name.
  public init(
    instance: String, time: Time, states: States, shiftTrigger: Settings.ShiftTrigger = .press
  ) {
    (self.instance, self.time, self.states) = (instance, time, states)
    self.shiftTrigger = shiftTrigger
  }

  /// Writes the members in the order of the interface.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("instance", instance)
      json.member("sequence", states.sequence)
      json.member("time", time)
      json.member("shiftTrigger", shiftTrigger.rawValue)
      json.name("states")
      json.object { json in
        for entry in states.entries { json.member(escaping: entry.machine.rawValue, entry.state) }
      }
      json.name("since")
      json.object { json in
        for entry in states.entries {
          if let since = entry.since { json.member(escaping: entry.machine.rawValue, since) }
        }
      }
    }
  }

  /// Reads a state; `nil` if the value is not a valid state.
  public init?(_ json: JSON) {
    guard let instance = json["instance"]?.string, let sequence = json["sequence"]?.integer,
      let time = json["time"].flatMap(Time.init), let members = json["states"]?.members
    else { return nil }
    var entries: [States.Entry] = []
    for member in members {
      guard let state = member.value.string else { return nil }
      let since = json["since"]?[member.name].flatMap(Time.init)
      entries.append(States.Entry(MachineName(rawValue: member.name), state, since: since))
    }
    let trigger = json["shiftTrigger"]?.string.flatMap(Settings.ShiftTrigger.init)
    self.init(
      instance: instance, time: time, states: States(sequence: sequence, entries),
      shiftTrigger: trigger ?? .press)
  }
}

/// The type `Change` of the interface.
extension Change: JSONWritable {
  /// Writes the change as an object. The members have the order of the interface.
  /// `keymodectl watch --json` and `keymodectl replay --json` print this object as a line.
  public func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }

  /// Writes the members of the change into the present object.
  public func writeMembers(to json: inout JSONWriter) {
    json.member("sequence", sequence)
    json.member("time", time)
    json.member("machine", machine)
    json.member("from", from)
    json.member("to", to)
    json.member("event", event)
  }

  /// Reads a change; `nil` if the value is not a valid change.
  public init?(_ json: JSON) {
    guard let sequence = json["sequence"]?.integer, let time = json["time"].flatMap(Time.init),
      let machine = json["machine"]?.string.map(MachineName.init(rawValue:)),
      let from = json["from"]?.string, let to = json["to"]?.string,
      let event = json["event"]?.string
    else { return nil }
    self.init(sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }
}

/// A reply of `Monitor`.
public struct MonitorReply: Hashable, Sendable, JSONWritable {
  /// The states after the changes.
  public let state: StateMessage
  /// The changes, in order.
  public let changes: [Change]
  /// How many changes could not be sent; `nil` if that is unknown, because the instance is new.
  public let missed: Int64?

  /// Each parameter sets the property of the same name.
  public init(state: StateMessage, changes: [Change], missed: Int64?) {
    (self.state, self.changes, self.missed) = (state, changes, missed)
  }

  /// Writes the reply's parameters.
  public func write(to json: inout JSONWriter) {
    Self.start(state, &json)
    for change in changes { change.write(to: &json) }
    Self.end(missed, &json)
  }

  /// Writes everything before the changes.
  public static func start(_ state: StateMessage, _ json: inout JSONWriter) {
    json.open("{")
    json.member("state", state)
    json.name("changes")
    json.open("[")
  }

  /// Writes everything after the changes.
  public static func end(_ missed: Int64?, _ json: inout JSONWriter) {
    json.close("]")
    // These members are never null, because some clients drop null members.
    json.member("missed", missed ?? 0)
    json.member("restarted", missed == nil)
    json.close("}")
  }

  /// Reads a reply's parameters; `nil` if they are invalid.
  public init?(_ json: JSON) {
    guard let state = json["state"].flatMap(StateMessage.init),
      let changes = json["changes"]?.elements(Change.init), let missed = json["missed"]?.integer,
      let isRestarted = json["restarted"]?.bool
    else { return nil }
    self.init(state: state, changes: changes, missed: isRestarted ? nil : missed)
  }
}

/// The results of `Trigger`.
public struct TriggerMessage: Hashable, Sendable, JSONWritable {
  /// Whether the event changed a state.
  public let changed: Bool
  /// The states after the event.
  public let state: StateMessage

  /// Each parameter sets the property of the same name.
  public init(changed: Bool, state: StateMessage) { (self.changed, self.state) = (changed, state) }

  /// Writes the reply's parameters.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("changed", changed)
      json.member("state", state)
    }
  }

  /// Reads a reply's parameters; `nil` if they are invalid.
  public init?(_ json: JSON) {
    guard let changed = json["changed"]?.bool, let state = json["state"].flatMap(StateMessage.init)
    else { return nil }
    self.init(changed: changed, state: state)
  }
}
