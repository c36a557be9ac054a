/// Follows the screen savers of the user's session, by the D-Bus interface that those of GNOME,
/// Plasma, Xfce, MATE and Cinnamon have. Not all of them tell systemd-logind that they lock the
/// screen.
///
/// A screen saver that has crashed or ended covers nothing.
final class ScreenSavers {
  private static let kinds = [kindOfLightLocker, "gnome", "xfce", "mate", "cinnamon"]
  private static let kindOfLightLocker = "freedesktop"

  /// The name of a kind on the bus, which is also that of its interface, and its object.
  private static func address(of kind: String) -> (name: String, path: String) {
    ("org.\(kind).ScreenSaver", "/org/\(kind)/ScreenSaver")
  }

  /// Whether one of them covers the screen; `nil` until all that run have answered. One that does
  /// not answer in time counts as if it did, until it tells that it does not.
  ///
  /// - Parameter isToLock: whether logind's last request was to lock the session, not to unlock it.
  func coverScreen(isToLock: Bool) -> Bool? {
    guard told.count == Self.kinds.count else { return nil }
    return told.values.contains(true) || (isToLock && isLightLocker)
  }

  private let loop: EventLoop
  private let changed: () -> Void
  private var bus: Bus?
  private var slots: [BusSlot] = []
  private var retry: EventSource?
  /// What is known of each kind.
  private var told: [String: Bool] = [:]
  /// Whether light-locker runs. It has the interface, but never says that it is active: it locks
  /// when logind requests it, and lightdm has logind request to unlock.
  private var isLightLocker = false

  /// Calls `changed`, from the loop, whenever ``coverScreen(isToLock:)`` may have changed.
  ///
  /// - Throws: if the loop refuses a timer.
  init(on loop: EventLoop, changed: @escaping () -> Void) throws(SystemError) {
    (self.loop, self.changed) = (loop, changed)
    retry = try loop.addTimer { [unowned self] in connect() }
    retry?.set(at: 0)
  }

  private func connect() {
    do throws(SystemError) {
      let bus = try Bus(.session, on: loop)
      self.bus = bus
      slots = [try bus.whenLost { [unowned self] in lose() }]
      for kind in Self.kinds { try follow(kind, on: bus) }
    } catch {
      // The session has no bus, and so no screen saver that this can follow.
      (slots, bus) = ([], nil)
      for kind in Self.kinds { told[kind] = false }
      changed()
    }
  }

  /// Until the next connection, nothing tells of the screen savers.
  private func lose() {
    (slots, bus, told) = ([], nil, [:])
    changed()
    retry?.set(after: .seconds(5))
  }

  private func follow(_ kind: String, on bus: Bus) throws(SystemError) {
    let (name, _) = Self.address(of: kind)
    slots.append(
      try bus.signals("sender='\(name)',interface='\(name)',member='ActiveChanged'") {
        [unowned self] values in
        if let isActive = values.first?.bool { take(isActive, from: kind) }
      })
    slots.append(
      try bus.owner(of: name) { [unowned self] isThere in
        if isThere { ask(kind) } else { take(false, from: kind) }
        if kind == Self.kindOfLightLocker { identify(name) }
      })
    // The bus itself answers this, and so before a program answers the question after it.
    if kind == Self.kindOfLightLocker { identify(name) }
    ask(kind)
  }

  /// Finds out whether a program with this name on the bus is light-locker.
  private func identify(_ name: String) {
    bus?.call(.processID(of: name)) { [weak self] answer in
      guard let self, bus != nil else { return }
      let number = try? answer.get().first?.number
      isLightLocker = number.map { PeerProcess(Int32(bitPattern: $0)).name } == "light-locker"
      changed()
    }
  }

  private func ask(_ kind: String) {
    let (name, path) = Self.address(of: kind)
    let question = BusCall(
      to: name, path: path, interface: name, member: "GetActive", startsProgram: false)
    bus?.call(question) { [weak self] answer in
      // The end of the connection also ends its calls.
      guard let self, bus != nil else { return }
      switch answer {
      case .success(let values): take(values.first?.bool == true, from: kind)
      // It hangs, or has ended, which the next answer says.
      case .failure(let error) where error.name == "org.freedesktop.DBus.Error.NoReply":
        take(true, from: kind)
        ask(kind)
      // It does not run, or is one that cannot be asked.
      case .failure: take(false, from: kind)
      }
    }
  }

  private func take(_ isActive: Bool, from kind: String) {
    told[kind] = isActive
    changed()
  }
}
