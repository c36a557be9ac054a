import KeyboardModes
import SystemCalls
import Systemd

/// A connection to the user's service manager, for the targets of states.
///
/// See `org.freedesktop.systemd1(5)`. There is no bus in between: `systemctl --user` connects in the
/// same way, and the manager tells everything to such a connection.
@MainActor
final class UserManager {
  /// Whether the manager has closed the connection.
  private(set) var isLost = false

  private let bus: Bus
  private var slots: [BusSlot] = []

  /// Connects.
  ///
  /// - Parameter jobEnded: is called, from the loop, with the number, the target and the result of
  ///   each job of a target of a state.
  init(
    on loop: EventLoop, jobEnded: @escaping @MainActor (UInt32, TargetUnit, String) -> Void
  ) throws(SystemError) {
    bus = try Bus(.userManager, on: loop)
    slots = [
      try bus.whenLost { [unowned self] in lose() },
      try bus.signals(
        BusMatch(path: Self.path, interface: Self.interface, member: "JobRemoved")
      ) { signal in
        let values = signal.arguments
        guard values.count == 4, case .uint32(let job) = values[0],
          let unit = values[2].text.flatMap(TargetUnit.init(name:)), let result = values[3].text
        else { return }
        jobEnded(job, unit, result)
      },
    ]
  }

  /// Gives the connection up.
  func lose() { isLost = true }

  /// The path of the socket; `nil` without `XDG_RUNTIME_DIR`, where users have no service manager.
  static var socket: String? { environment("XDG_RUNTIME_DIR").map { "\($0)/systemd/private" } }

  /// Asks for all targets of states that are active or have a job.
  func list(
    answer: @escaping @MainActor (Result<[ListedTarget], BusError>) -> Void
  ) {
    let patterns = Machine.allCases.map { BusValue.string(TargetUnit.pattern(of: $0)) }
    let call = Self.call("ListUnitsByPatterns", .array(of: "s", []), .array(of: "s", patterns))
    bus.call(call) { result in
      let list = result.map { $0.first?.elements?.compactMap(ListedTarget.init) ?? [] }
      answer(list)
    }
  }

  /// Gives an order, and calls `answer` with the number of the job that carries it out.
  func give(
    _ order: TargetOrder, answer: @escaping @MainActor (Result<UInt32, BusError>) -> Void
  ) {
    let method = order.verb == .start ? "StartUnit" : "StopUnit"
    bus.call(Self.call(method, .string(order.unit.name), .string("replace"))) { result in
      let job = result.flatMap { values -> Result<UInt32, BusError> in
        // The path of a job ends with its number.
        let number = values.first?.text?.split(separator: "/").last.flatMap { UInt32($0) }
        return number.map(Result.success)
          ?? .failure(BusError(name: "org.freedesktop.DBus.Error.Failed", message: "no job"))
      }
      answer(job)
    }
  }

  private static let path = "/org/freedesktop/systemd1"
  private static let interface = "org.freedesktop.systemd1.Manager"

  private static func call(_ member: String, _ first: BusValue, _ second: BusValue) -> BusCall {
    BusCall(to: nil, path: path, interface: interface, member: member, first, second)
  }
}

extension BusError {
  /// Whether the service manager has no such unit.
  var isUnitUnknown: Bool { name == "org.freedesktop.systemd1.NoSuchUnit" }
}

extension ListedTarget {
  /// A unit in an answer of `ListUnitsByPatterns`; `nil` if it is not the target of a state, or is
  /// inactive and without a job.
  init?(_ value: BusValue) {
    guard let values = value.elements, values.count == 10,
      let unit = values[0].text.flatMap(TargetUnit.init(name:)), let state = values[3].text,
      case .uint32(let number) = values[7], let type = values[8].text
    else { return nil }
    let verb: TargetOrder.Verb? =
      switch type {
      case "start", "restart", "try-restart": .start
      case "stop": .stop
      default: nil
      }
    let isActive = state == "active"
    guard isActive || verb != nil else { return nil }
    self.init(unit: unit, isActive: isActive, job: verb.map { ($0, number) })
  }
}
