import JSON
import KeymodeInterface
import Varlink

/// A call of the interface, and how the parameters of its reply are read.
struct Request<Answer> {
  let call: Call
  /// Reads the parameters of a reply. Throws ``ClientError/badReply(_:)`` if they are invalid.
  let answer: (JSON) throws(ClientError) -> Answer
}

extension Request {
  /// - Parameter what: what the answer is, for the error.
  fileprivate init(_ call: Call, _ what: String, _ read: @escaping (JSON) -> Answer?) {
    self.init(call: call) { parameters throws(ClientError) in
      guard let answer = read(parameters) else { throw .badReply("no \(what)") }
      return answer
    }
  }

  /// A call of `method` whose reply has a list of this name.
  fileprivate init<Element>(
    _ method: String, list name: String, of element: @escaping (JSON) -> Element?
  ) where Answer == [Element] {
    self.init(call: Call(method)) { parameters throws(ClientError) in
      guard let list = parameters[name], list.array != nil else {
        throw .badReply("no \(name)")
      }
      guard let elements = list.elements(element) else { throw .badReply("invalid \(name)") }
      return elements
    }
  }
}

extension Request<StateMessage> {
  static var state: Self {
    Self(Call(ControllerInterface.getState), "state") { $0["state"].flatMap(StateMessage.init) }
  }
}

extension Request<TriggerMessage> {
  static func trigger(_ event: String) -> Self {
    let call = Call(ControllerInterface.trigger, [.init("event", .string(event))])
    return Self(call, "state", TriggerMessage.init)
  }
}

extension Request<MonitorMessage> {
  /// Subscribes to all changes from now on, or to those after the one with this number.
  static func changes(after last: (sequence: Int64, instance: String)? = nil) -> Self {
    let known: [JSON.Member]? = last.map {
      [.init("after", .integer($0.sequence)), .init("instance", .string($0.instance))]
    }
    let call = Call(ControllerInterface.monitor, known ?? [], wantsMore: true)
    return Self(call, "states or changes", MonitorMessage.init)
  }
}

extension Request<StatisticsMessage> {
  static var statistics: Self {
    Self(Call(ControllerInterface.getStatistics), "statistics", StatisticsMessage.init)
  }
}

extension Request<[DeviceMessage]> {
  static var devices: Self {
    Self(ControllerInterface.listDevices, list: "devices", of: DeviceMessage.init)
  }
}

extension Request<DeviceList> {
  static var deviceList: Self {
    let devices = Request<[DeviceMessage]>.devices
    return Self(call: devices.call) { parameters throws(ClientError) in
      DeviceList(
        try devices.answer(parameters),
        absence: parameters["absence"]?.string.flatMap(DeviceAbsence.init(rawValue:)))
    }
  }
}

extension Request<[MachineMessage]> {
  static var machines: Self {
    Self(ControllerInterface.listMachines, list: "machines", of: MachineMessage.init)
  }
}
