/// Follows the screen savers of the user's session, by the D-Bus interface of the screen savers of
/// GNOME, Plasma, Xfce, MATE and Cinnamon. Some of these do not tell systemd-logind that they lock
/// the screen.
///
/// A screen saver that has crashed or ended covers nothing.
final class ScreenSavers {
  private static let kinds = ["freedesktop", "gnome", "xfce", "mate", "cinnamon"]

  /// The bus name of a kind, which is also the name of its interface.
  private static func name(of kind: String) -> String { "org.\(kind).ScreenSaver" }

  /// Whether a screen saver covers the screen; `nil` until all running ones have answered. A screen
  /// saver that does not answer in time counts as covering the screen, until it denies that.
  ///
  /// - Parameter isLockRequested: whether logind's last request was to lock the session.
  func isScreenCovered(isLockRequested: Bool) -> Bool? {
    guard isActiveByKind.count == Self.kinds.count else { return nil }
    return isActiveByKind.values.contains(true) || (isLockRequested && isLightLockerRunning)
  }

  private let loop: EventLoop
  private let changed: () -> Void
  private var bus: Bus?
  private var slots: [BusSlot] = []
  private var retry: EventSource?
  /// Whether a connection has ever succeeded. Only then does a failure lead to another attempt.
  private var hasConnected = false
  /// The kinds whose state is known, and whether each is active.
  private var isActiveByKind: [String: Bool] = [:]
  /// The connection that owns the name of each kind.
  private var owners: [String: String] = [:]

  /// Whether light-locker runs, which alone owns the names of two kinds. light-locker never says
  /// that it is active: it locks at logind's request, and lightdm unlocks by way of logind.
  private var isLightLockerRunning: Bool {
    owners["gnome"].map { $0 == owners["freedesktop"] } ?? false
  }

  /// Calls `changed`, from the loop, when ``isScreenCovered(isLockRequested:)`` may have changed.
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
      slots = [try bus.whenLost { [unowned self] in disconnect() }]
      for kind in Self.kinds { try follow(kind, on: bus) }
      hasConnected = true
    } catch {
      if hasConnected { return disconnect() }
      // Without a bus, the session has no screen saver to follow.
      (slots, bus) = ([], nil)
      for kind in Self.kinds { isActiveByKind[kind] = false }
      changed()
    }
  }

  /// Forgets what the screen savers have answered, and has the loop connect again in 5 s.
  private func disconnect() {
    (slots, bus, isActiveByKind, owners) = ([], nil, [:], [:])
    changed()
    retry?.set(after: .seconds(5))
  }

  private func follow(_ kind: String, on bus: Bus) throws(SystemError) {
    let name = Self.name(of: kind)
    slots.append(
      try bus.signals("sender='\(name)',interface='\(name)',member='ActiveChanged'") {
        [unowned self] values in
        if let isActive = values.first?.bool { setActive(isActive, of: kind) }
      })
    slots.append(try bus.whenOwnerChanges(of: name) { [unowned self] in setOwner($0, of: kind) })
    bus.call(.owner(of: name)) { [weak self] answer in
      // The end of the connection ends this call with an error, which says nothing about the owner.
      guard let self, self.bus != nil else { return }
      setOwner(try? answer.get().first?.text, of: kind)
    }
  }

  private func setOwner(_ owner: String?, of kind: String) {
    owners[kind] = owner
    if let owner { ask(owner, of: kind) } else { setActive(false, of: kind) }
  }

  private func ask(_ owner: String, of kind: String) {
    let question = BusCall(
      to: owner, path: "/org/\(kind)/ScreenSaver", interface: Self.name(of: kind),
      member: "GetActive")
    bus?.call(question) { [weak self] answer in
      guard let self, bus != nil, owners[kind] == owner else { return }
      switch answer {
      case .success(let values): setActive(values.first?.bool == true, of: kind)
      // The screen saver hangs, or has ended: the next answer says which.
      case .failure(let error) where error.name == "org.freedesktop.DBus.Error.NoReply":
        setActive(true, of: kind)
        ask(owner, of: kind)
      // The screen saver cannot be asked.
      case .failure: setActive(false, of: kind)
      }
    }
  }

  private func setActive(_ isActive: Bool, of kind: String) {
    isActiveByKind[kind] = isActive
    changed()
  }
}
