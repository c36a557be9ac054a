import JSON
import KeymodeInterface
import Varlink

/// What a client may do, decided by the socket that it came in through.
enum Access {
  /// Learn the states.
  case reading
  /// Also change them.
  case control
}

/// The answer to a call.
enum Answer {
  /// One reply, and the call is done.
  case reply(Reply)
  /// One reply that is written already, as many get it.
  case written([UInt8])
  /// This reply, if there is one, and then what a subscriber at this position is to be sent.
  case stream(first: [UInt8]?, SubscriberPosition)
}

/// Answers calls of all interfaces that the daemon has.
struct ControllerMethods {
  private let service: ModeService
  private let info = ServiceInfo(
    vendor: "keymoded", product: "keymoded", version: keymodedVersion, url: "",
    interfaces: [(ControllerInterface.name, ControllerInterface.description)])

  private let clientCount: () -> Int

  /// - Parameter clientCount: how many clients are connected now.
  init(_ service: ModeService, clientCount: @escaping () -> Int) {
    self.service = service
    self.clientCount = clientCount
  }

  func answer(_ call: Call, access: Access) -> Answer {
    do throws(VarlinkError) {
      switch call.method {
      case ControllerInterface.getState:
        try call.expectParameters([])
        return .written(Reply.message("state", service.getState()))
      case ControllerInterface.monitor: return try monitor(call)
      case ControllerInterface.listMachines:
        try call.expectParameters([])
        return .written(service.machines())
      case ControllerInterface.trigger:
        guard access == .control else { throw .permissionDenied }
        return .written(Reply.message(try trigger(call)))
      case ControllerInterface.listDevices:
        guard access == .control else { throw .permissionDenied }
        try call.expectParameters([])
        return .written(service.shared(Reply.message("devices", service.listDevices())))
      case ControllerInterface.getStatistics:
        guard access == .control else { throw .permissionDenied }
        try call.expectParameters([])
        return .written(Reply.message(service.getStatistics(clients: clientCount())))
      default:
        guard let result = try info.answer(call) else { throw info.notFound(call) }
        return .written(service.shared(Reply(result).message))
      }
    } catch {
      return .reply(Reply(error))
    }
  }

  private func monitor(_ call: Call) throws(VarlinkError) -> Answer {
    guard call.wantsMore else { throw .expectedMore }
    try call.expectParameters(["after", "instance"])
    let after = try optional("after", of: call, \.integer)
    let instance = try optional("instance", of: call, \.string)
    let (first, position) = try service.monitor(after: after, instance: instance)
    return .stream(first: first.map { Reply.message($0, continues: true) }, position)
  }

  private func trigger(_ call: Call) throws(VarlinkError) -> TriggerMessage {
    try call.expectParameters(["event"])
    guard let event = try optional("event", of: call, \.string) else {
      throw .invalidParameter("event")
    }
    return try service.trigger(event)
  }

  private func optional<Value>(
    _ name: String, of call: Call, _ value: (JSON) -> Value?
  ) throws(VarlinkError) -> Value? {
    guard let parameter = call.parameter(name) else { return nil }
    guard let value = value(parameter) else { throw .invalidParameter(name) }
    return value
  }
}
