public import JSON
public import KeyboardModes

/// The type `State` of the interface.
public struct StateMessage: Hashable, Sendable {
  /// Names the life of the sequence; with another instance, the numbers start anew.
  public let instance: String
  /// When the daemon composed this message.
  public let time: Time
  /// The states.
  public let modes: Modes

  /// The state with these parts.
  public init(instance: String, time: Time, modes: Modes) {
    self.instance = instance
    self.time = time
    self.modes = modes
  }

  /// The state as JSON, members in the order of the interface.
  public var json: JSON {
    [
      "instance": .string(instance),
      "sequence": .integer(modes.sequence),
      "time": .integer(time.microseconds),
      "shift": .string(modes.shift),
      "shiftSince": JSON(modes.shiftSince),
      "keyboard": .string(modes.keyboard),
      "keyboardSince": JSON(modes.keyboardSince),
    ]
  }

  /// Reads a state; `nil` if the value is not a valid state.
  public init?(_ json: JSON) {
    guard let instance = json["instance"]?.string, let sequence = json["sequence"]?.integer,
      let time = json["time"]?.integer, let shift = json["shift"]?.string,
      let keyboard = json["keyboard"]?.string
    else { return nil }
    self.instance = instance
    self.time = Time(microseconds: time)
    modes = Modes(
      sequence: sequence, shift: shift,
      shiftSince: json["shiftSince"]?.integer.map(Time.init(microseconds:)), keyboard: keyboard,
      keyboardSince: json["keyboardSince"]?.integer.map(Time.init(microseconds:)))
  }
}

extension JSON {
  fileprivate init(_ time: Time?) {
    self = time.map { .integer($0.microseconds) } ?? .null
  }
}

extension Change {
  /// The change as JSON, members in the order of the interface. Written compactly, this is also
  /// the line that `keymodectl --json` prints.
  public var json: JSON {
    [
      "sequence": .integer(sequence),
      "time": .integer(time.microseconds),
      "machine": .string(machine.rawValue),
      "from": .string(from),
      "to": .string(to),
      "event": .string(event),
    ]
  }

  /// Reads a change; `nil` if the value is not a valid change.
  public init?(_ json: JSON) {
    guard let sequence = json["sequence"]?.integer, let time = json["time"]?.integer,
      let machine = json["machine"]?.string.flatMap(Machine.init(rawValue:)),
      let from = json["from"]?.string, let to = json["to"]?.string,
      let event = json["event"]?.string
    else { return nil }
    self.init(
      sequence: sequence, time: Time(microseconds: time), machine: machine, from: from, to: to,
      event: event)
  }
}

/// A reply of `Monitor`.
public struct MonitorMessage: Hashable, Sendable {
  /// The states after the changes.
  public let state: StateMessage
  /// The changes, in order.
  public let changes: [Change]
  /// How many changes could not be sent; `nil` if their number is unknown.
  public let missed: Int64?

  /// The reply with these parts.
  public init(state: StateMessage, changes: [Change], missed: Int64?) {
    self.state = state
    self.changes = changes
    self.missed = missed
  }

  /// The reply's parameters.
  public var json: JSON {
    [
      "state": state.json,
      "changes": .array(changes.map(\.json)),
      "missed": missed.map(JSON.integer) ?? .null,
    ]
  }

  /// Reads a reply's parameters; `nil` if they are invalid.
  public init?(_ json: JSON) {
    guard let state = json["state"].flatMap(StateMessage.init), let list = json["changes"]?.array
    else { return nil }
    let changes = list.compactMap(Change.init)
    guard changes.count == list.count else { return nil }
    self.init(state: state, changes: changes, missed: json["missed"]?.integer)
  }
}
