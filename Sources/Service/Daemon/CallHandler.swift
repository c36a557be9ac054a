import KeyboardModes
import System
import Terminal
import Wire

/// What a client may do. The socket of its connection decides this.
enum Access {
  /// Only read the states.
  case reading
  /// Read and change the states.
  case control
}

/// The answer to a call.
enum Answer {
  /// One reply.
  case reply([UInt8])
  /// A first reply, if there is one, and then the changes after this position.
  case stream(first: [UInt8]?, SubscriberPosition)
  /// An empty reply, once the connections for reading have ended and the changes are forgotten.
  case hangUp
}

/// Answers the calls of all interfaces of the daemon.
final class CallHandler {
  private let service: ModeService
  private let configuration: ConfigurationFile
  private let sinceBoot: () -> Int64
  private let started: Int64

  /// The last reply to ListMachines, and the rules in it. A large reply is slow to compute.
  private var lastMachineList: (shift: ShiftRules, tables: [Settings.TableMachine], reply: [UInt8])?

  /// Long replies. Clients that get equal replies share one copy.
  private var longReplies: Set<[UInt8]> = []

  /// - Parameter sinceBoot: reads the boot time in microseconds, never the time of a recording.
  init(
    _ service: ModeService, _ configuration: ConfigurationFile,
    sinceBoot: @escaping () -> Int64 = microsecondsSinceBoot
  ) {
    self.service = service
    self.configuration = configuration
    self.sinceBoot = sinceBoot
    started = sinceBoot()
  }

  func answer(_ call: Call, access: Access, clients: Int) -> Answer {
    do throws(VarlinkError) {
      switch call.method {
      case ControllerInterface.getState:
        try call.expectParameters([])
        return .reply(Reply.message("state", stateMessage))
      case ControllerInterface.monitor: return try monitor(call)
      case ControllerInterface.listMachines:
        try call.expectParameters([])
        return .reply(listMachines())
      case ControllerInterface.trigger:
        guard access == .control else { throw .permissionDenied }
        return .reply(Reply.message(try trigger(call)))
      case ControllerInterface.listDevices:
        guard access == .control else { throw .permissionDenied }
        try call.expectParameters([])
        return .reply(sharedCopy(of: Reply.message("devices", service.source.devices)))
      case ControllerInterface.getStatistics:
        guard access == .control else { throw .permissionDenied }
        try call.expectParameters([])
        return .reply(Reply.message(statistics(clients: clients)))
      case ControllerInterface.hangUp:
        guard access == .control else { throw .permissionDenied }
        try call.expectParameters([])
        return .hangUp
      default:
        guard let result = try ServiceInfo.answer(call) else { throw ServiceInfo.notFound(call) }
        return .reply(sharedCopy(of: Reply(result).message))
      }
    } catch {
      return .reply(Reply(error).message)
    }
  }

  /// Forgets the changes so far. Reads the waiting keys first, to forget their changes too.
  func forgetChanges() {
    service.advance()
    service.engine.forgetChanges(at: service.source.now)
  }

  private var stateMessage: StateMessage { service.engine.stateMessage(at: service.source.now) }

  private func monitor(_ call: Call) throws(VarlinkError) -> Answer {
    guard call.wantsMore else { throw .expectedMore }
    try call.expectParameters(["after", "instance", "machines"])
    let after = try optional("after", of: call, \.integer)
    let instance = try optional("instance", of: call, \.string)
    let list = try optional("machines", of: call) {
      $0.elements(\.string)
    }
    let machines = list.map { Set($0.map(MachineName.init(rawValue:))) }
    // The configuration may lack a machine of the list, but each name must be valid.
    if let machines, machines.isEmpty || machines.count > 64 || !machines.allSatisfy(\.isValidName)
    {
      throw .invalidParameter("machines")
    }
    let (first, position) = try service.publisher.subscribe(
      after: after, instance: instance, machines: machines)
    return .stream(first: first.map { Reply.message($0, continues: true) }, position)
  }

  private func listMachines() -> [UInt8] {
    let settings = service.engine.settings
    if let last = lastMachineList, last.shift == settings.shift, last.tables == settings.machines {
      return last.reply
    }
    let reply = Reply.message("machines", MachineMessage.all(of: settings))
    lastMachineList = (settings.shift, settings.machines, reply)
    return reply
  }

  private func trigger(_ call: Call) throws(VarlinkError) -> TriggerMessage {
    try call.expectParameters(["event"])
    let machines = service.engine.settings.machines
    guard let name = try optional("event", of: call, \.string),
      let event = ClientEvent(name: name, in: machines)
    else { throw .invalidParameter("event") }
    let hasChanged = service.trigger(event)
    return TriggerMessage(changed: hasChanged, state: stateMessage)
  }

  func statistics(clients: Int) -> StatisticsMessage {
    let engine = service.engine
    return StatisticsMessage(
      started: Time(microseconds: started), time: Time(microseconds: sinceBoot()),
      changes: engine.ring.lastSequence - engine.sequenceAtStart, clients: clients,
      missed: service.publisher.missed, devices: service.source.devices.count,
      unopened: service.source.unopenedCount,
      losses: engine.losses, reloads: configuration.reloads,
      configuration: configuration.inForce.rawValue, held: service.source.longHolds)
  }

  private func optional<Value>(
    _ name: String, of call: Call, _ value: (JSON) -> Value?
  ) throws(VarlinkError) -> Value? {
    guard let parameter = call.parameter(name) else { return nil }
    guard let value = value(parameter) else { throw .invalidParameter(name) }
    return value
  }

  /// Returns the message or, for a long message, the copy that all clients share.
  private func sharedCopy(of message: [UInt8]) -> [UInt8] {
    guard message.count > 1024 else { return message }
    // At most three are current: the texts of the two interfaces, and the devices.
    if longReplies.count > 3 { longReplies = [] }
    return longReplies.insert(message).memberAfterInsert
  }
}
