import KeyboardModes
package import Wire

/// A call of the interface, and how the parameters of its reply are read.
package struct Request<Answer> {
  let call: Call
  let endpoint: Endpoint
  /// Reads the parameters of a reply. Throws ``ClientError/badReply(_:)`` if they are invalid.
  let readAnswer: (JSON) throws(ClientError) -> Answer
}

extension Request {
  /// - Parameter what: the name of the answer in errors.
  fileprivate init(
    _ call: Call, on endpoint: Endpoint, _ what: String, _ read: @escaping (JSON) -> Answer?
  ) {
    self.init(call: call, endpoint: endpoint) { parameters throws(ClientError) in
      guard let answer = read(parameters) else { throw .badReply("no \(what)") }
      return answer
    }
  }
}

extension Request<StateMessage> {
  /// Asks for the present states.
  package static var state: Request<StateMessage> {
    Self(Call(ControllerInterface.getState), on: .state, "state") {
      $0["state"].flatMap(StateMessage.init)
    }
  }
}

extension Request<TriggerMessage> {
  /// Sends an event; the answer is whether the event changed a state, and the states afterwards.
  package static func trigger(_ event: String) -> Request<TriggerMessage> {
    let call = Call(ControllerInterface.trigger, [.init("event", .string(event))])
    return Self(call, on: .control, "state", TriggerMessage.init)
  }
}

extension Request<MonitorReply> {
  /// Subscribes to the changes of these machines, by default of all machines. The changes after
  /// `last` come first, if it is given; otherwise only new changes come.
  static func changes(
    after last: (sequence: Int64, instance: String)? = nil, of machines: Set<MachineName>? = nil
  ) -> Self {
    var members: [JSON.Member] = []
    if let last {
      members.append(.init("after", .integer(last.sequence)))
      members.append(.init("instance", .string(last.instance)))
    }
    if let machines {
      let names = machines.sorted().map { JSON.string($0.rawValue) }
      members.append(.init("machines", .array(names)))
    }
    let call = Call(ControllerInterface.monitor, members, wantsMore: true)
    return Self(call, on: .state, "states or changes", MonitorReply.init)
  }
}

extension Request<StatisticsMessage> {
  /// Asks for the statistics of the daemon.
  package static var statistics: Request<StatisticsMessage> {
    Self(
      Call(ControllerInterface.getStatistics), on: .control, "statistics", StatisticsMessage.init)
  }
}

extension Request<Void> {
  /// Has the daemon forget all changes, and end the connections of the state socket.
  package static var hangUp: Request<Void> {
    Self(call: Call(ControllerInterface.hangUp), endpoint: .control) { _ in }
  }
}

extension Request<[DeviceMessage]> {
  /// Asks for the devices that the daemon follows.
  package static var devices: Request<[DeviceMessage]> {
    Self(call: Call(ControllerInterface.listDevices), endpoint: .control) {
      parameters throws(ClientError) in
      try list("devices", in: parameters, of: DeviceMessage.init)
    }
  }
}

extension Request<[MachineMessage]> {
  /// Asks for the states, events and transitions of all machines.
  package static var machines: Request<[MachineMessage]> {
    Self(call: Call(ControllerInterface.listMachines), endpoint: .state) {
      parameters throws(ClientError) in
      try list("machines", in: parameters, of: MachineMessage.init)
    }
  }
}

/// The list with this name in the parameters of a reply.
private func list<Element>(
  _ name: String, in parameters: JSON, of element: (JSON) -> Element?
) throws(ClientError) -> [Element] {
  guard let list = parameters[name], list.array != nil else { throw .badReply("no \(name)") }
  guard let elements = list.elements(element) else { throw .badReply("invalid \(name)") }
  return elements
}
