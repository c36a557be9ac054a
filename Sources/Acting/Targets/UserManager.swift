import KeyboardModes
import Linux
import Terminal

/// What the user's service manager is asked to do with a target.
struct TargetOrder: Hashable, Sendable {
  enum Verb: Hashable, Sendable { case start, stop }

  let verb: Verb
  let unit: TargetUnit
}

/// What a target does that is not inactive.
enum TargetStatus: Hashable, Sendable {
  case active
  /// A job starts it.
  case starting
  /// A job stops it.
  case stopping
}

/// A connection to the user's service manager, for the targets of states.
///
/// See `org.freedesktop.systemd1(5)`. There is no bus in between: `systemctl --user` connects in the
/// same way, and the manager tells everything to such a connection.
final class UserManager {
  /// Whether the connection is lost, or was given up.
  private(set) var isLost = false
  /// The number of calls that the manager has not answered.
  private(set) var unanswered = 0

  private let bus: Bus
  private let lost: () -> Void
  private var slots: [BusSlot] = []

  /// Connects.
  ///
  /// - Parameters:
  ///   - jobEnded: is called, from the loop, with the number and the result of each job of a target of a
  ///     state.
  ///   - lost: is called once the connection is lost.
  init(
    on loop: EventLoop, jobEnded: @escaping (UInt32, String) -> Void,
    lost: @escaping () -> Void
  ) throws(SystemError) {
    bus = try Bus(.userManager, on: loop)
    self.lost = lost
    slots = [
      // The slots are this object's own, and go with it.
      try bus.whenLost { [unowned self] in lose() },
      try bus.signals(
        BusMatch(path: Self.path, interface: Self.interface, member: "JobRemoved")
      ) { values in
        guard values.count == 4, case .uint32(let job) = values[0],
          values[2].text.flatMap(TargetUnit.init(name:)) != nil, let result = values[3].text
        else { return }
        jobEnded(job, result)
      },
    ]
  }

  /// Gives the connection up.
  func lose() {
    guard !isLost else { return }
    isLost = true
    lost()
  }

  /// The path of the socket; `nil` without `XDG_RUNTIME_DIR`, where users have no service manager.
  static var socket: String? { environment("XDG_RUNTIME_DIR").map { "\($0)/systemd/private" } }

  /// Asks for all targets of states that are active or have a job.
  func list(
    answer: @escaping (Result<[TargetUnit: TargetStatus], BusError>) -> Void
  ) {
    let patterns = Machine.allCases.map { BusValue.string(TargetUnit.pattern(of: $0)) }
    let call = Self.call("ListUnitsByPatterns", .array(of: "s", []), .array(of: "s", patterns))
    self.call(call) { result in
      answer(
        result.map { values in
          Dictionary((values.first?.elements ?? []).compactMap(Self.target)) { $1 }
        })
    }
  }

  /// A unit in an answer of `ListUnitsByPatterns`; `nil` if it is not the target of a state, or is
  /// inactive and without a job.
  private static func target(_ value: BusValue) -> (TargetUnit, TargetStatus)? {
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

  /// Gives an order, and calls `answer` with the number of the job that carries it out.
  func give(
    _ order: TargetOrder, answer: @escaping (Result<UInt32, BusError>) -> Void
  ) {
    let method = order.verb == .start ? "StartUnit" : "StopUnit"
    call(Self.call(method, .string(order.unit.name), .string("replace"))) { result in
      let job = result.flatMap { values -> Result<UInt32, BusError> in
        // The path of a job ends with its number.
        let number = values.first?.text?.split(separator: "/").last.flatMap { UInt32($0) }
        return number.map(Result.success)
          ?? .failure(BusError(name: "org.freedesktop.DBus.Error.Failed", message: "no job"))
      }
      answer(job)
    }
  }

  private func call(_ call: BusCall, _ answer: @escaping (Result<[BusValue], BusError>) -> Void) {
    unanswered += 1
    bus.call(call) { [weak self] result in
      self?.unanswered -= 1
      answer(result)
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
