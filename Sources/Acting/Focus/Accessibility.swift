import SystemCalls
import Systemd

/// Whether programs of the session speak AT-SPI, and where: the interface `org.a11y.Bus` of the
/// session bus.
///
/// Programs look at `IsEnabled` when they start. It is switched on here if it is off, and off again by
/// ``end(_:)``.
final class Accessibility {
  /// What the session tells.
  enum Event {
    /// The accessibility bus has this address.
    case bus(address: String)
    /// There is no accessibility bus, and nothing that would start one.
    case none
    /// The session is over.
    case sessionLost
    /// Another process of this session follows the focus already.
    case isFollowed
  }

  private static let name = "org.a11y.Bus"
  private static let path = "/org/a11y/bus"
  private static let status = "org.a11y.Status"
  /// Two processes that follow the focus would send each event twice.
  private static let ownName = "org.keymoded.Focus"
  /// The shortest and the longest time before asking again for a bus that is lost.
  private static let delays = (shortest: Duration.seconds(1), longest: Duration.seconds(64))

  /// How long the switch may take to answer: the user waits for it at the end.
  private static let patience = Duration.seconds(1)

  private let bus: Bus
  private let told: (Event) -> Void
  private var slots: [BusSlot] = []
  private var retry: EventSource?
  private var delay = delays.shortest
  private var isAsking = false
  /// Whether it was off, and was switched on here.
  private var isSwitchedOn = false

  /// Connects to the session bus.
  ///
  /// - Parameter told: called from the loop.
  init(on loop: EventLoop, told: @escaping (Event) -> Void) throws(SystemError) {
    self.told = told
    bus = try Bus(.session, on: loop)
    retry = try loop.addTimer { [unowned self] in find() }
    slots = [
      try bus.whenLost { told(.sessionLost) },
      try bus.owner(of: Self.name) { [unowned self] isThere in
        // One that is being started for this object's own question will answer that.
        if !isAsking, isThere { find() }
      },
    ]
    claim()
  }

  /// Takes the name that only one process of the session can have, and then finds the bus.
  private func claim() {
    let doNotQueue = BusValue.uint32(4)
    let busName = "org.freedesktop.DBus"
    let call = BusCall(
      to: busName, path: "/org/freedesktop/DBus", interface: busName, member: "RequestName",
      .string(Self.ownName), doNotQueue)
    bus.call(call) { [weak self] answer in
      guard let self else { return }
      let isTaken = BusValue.uint32(3)
      if (try? answer.get()) == [isTaken] { told(.isFollowed) } else { find() }
    }
  }

  // MARK: - The bus

  /// The connection to the accessibility bus is lost, or was refused.
  func busLost() {
    retry?.set(after: delay)
    delay = min(delay * 2, Self.delays.longest)
  }

  /// The connection to the accessibility bus works.
  func busWorks() { delay = Self.delays.shortest }

  private func find() {
    retry?.disable()
    isAsking = true
    let call = BusCall(
      to: Self.name, path: Self.path, interface: Self.name, member: "GetAddress")
    bus.call(call) { [weak self] answer in
      guard let self else { return }
      isAsking = false
      switch answer {
      case .success(let values):
        guard let address = values.first?.text, !address.isEmpty else { return told(.none) }
        switchOn()
        told(.bus(address: address))
      // The name will get an owner, which tells of it.
      case .failure(let error) where error.isServiceUnknown: told(.none)
      case .failure: busLost()
      }
    }
  }

  // MARK: - The switch

  private func switchOn() {
    get("IsEnabled") { [weak self] isOn in
      guard let self, isOn == false else { return }
      isSwitchedOn = true
      set("IsEnabled", true) {}
    }
  }

  /// Switches off what was switched on here, unless a screen reader came meanwhile; calls `done`, from
  /// the loop, after that.
  func end(_ done: @escaping () -> Void) {
    guard isSwitchedOn else { return done() }
    get("ScreenReaderEnabled") { [weak self] isOn in
      guard let self, isOn != true else { return done() }
      set("IsEnabled", false, done)
    }
  }

  private func get(_ property: String, _ answered: @escaping (Bool?) -> Void) {
    let call = BusCall.get(property, of: Self.status, at: Self.path, from: Self.name)
    bus.call(call, timeout: Self.patience) { answer in
      answered((try? answer.get())?.first?.content.bool)
    }
  }

  private func set(_ property: String, _ value: Bool, _ done: @escaping () -> Void) {
    let call = BusCall.set(
      property, of: Self.status, at: Self.path, from: Self.name, to: .bool(value))
    bus.call(call, timeout: Self.patience) { _ in done() }
  }
}
