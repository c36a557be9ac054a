import System
import Terminal

/// A connection to a service manager of systemd.
///
/// See `org.freedesktop.systemd1(5)`. There is no bus in between: `systemctl --user` connects in
/// the same way, and such a connection gets all signals of the manager.
final class SystemdManager {
  /// The end of a job: the path of the job, its unit, and its result: `done`, or a reason.
  typealias JobEnd = (job: String, unit: String, result: String)

  private static let path = "/org/freedesktop/systemd1"
  private static let interface = "org.freedesktop.systemd1.Manager"

  /// The number of calls that the manager has not answered.
  private(set) var unanswered = 0
  /// The manager's process; `nil` if the kernel does not say.
  let process: PeerProcess?

  private let bus: Bus
  private var slots: [BusSlot] = []

  /// - Parameters:
  ///   - jobEnded: called from the loop with the end of each job, after the answer to the call that
  ///     made the job.
  ///   - lost: called once the connection is lost.
  init(
    _ address: Bus.Address, on loop: EventLoop, jobEnded: @escaping (JobEnd) -> Void,
    lost: @escaping () -> Void
  ) throws(SystemError) {
    bus = try Bus(address, on: loop)
    // Asked now, because a connection that is lost knows no peer.
    process = bus.peer
    slots = [
      try bus.whenLost(lost),
      try bus.signals(
        "path='\(Self.path)',interface='\(Self.interface)',member='JobRemoved'"
      ) { values in
        guard values.count == 4, let job = values[1].text, let unit = values[2].text,
          let result = values[3].text
        else { return }
        jobEnded((job, unit, result))
      },
    ]
  }

  /// Calls a method, and calls `answer` with the values that it returns: a method that makes a job
  /// returns the job's path.
  func call(
    _ method: String, _ arguments: [BusValue],
    answer: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    unanswered += 1
    let call = BusCall(
      to: nil, path: Self.path, interface: Self.interface, member: method, arguments)
    bus.call(call) { [weak self] result in
      self?.unanswered -= 1
      answer(result)
    }
  }
}
