import Glibc
public import KeyboardModes
public import System
import Terminal

/// Finds, opens, reads and closes the keyboards and pointers that are followed.
public final class Keyboards {
  /// Which devices to follow.
  public enum Selection {
    /// The keyboards, the devices with some keys and, if `pointers`, the pointers that the rules
    /// allow. udev classifies devices; without udev, `DeviceKind` does. Devices with some keys
    /// include the separate node of some keyboards for volume or dictation keys.
    case all(DeviceRules, pointers: Bool)
    /// The devices at these paths, now or when they appear, whatever they are.
    case named([String])
  }

  /// What happened to a device, for the log.
  public enum Report {
    /// The device is followed from now on.
    case followed(DeviceID, InputDevice)
    /// The device was removed.
    case gone(DeviceID, InputDevice)
    /// The device is present, but no longer followed.
    case released(DeviceID, InputDevice)
    /// A device cannot be opened or can no longer be read, or the devices cannot be listed.
    case failed(SystemError)
    /// The device is followed, but its LEDs cannot be switched.
    case failedLEDs(DeviceID, InputDevice, SystemError)
  }

  private var selection: Selection
  // Unchecked for speed: see `EventLoop`.
  @exclusivity(unchecked) var followed: [FollowedDevice] = []

  /// Whether the last read may have left events of some device unread.
  var mayHaveUnread = false

  /// Inputs that were read but not handed over yet: a queue for each device, with its index in
  /// ``followed``.
  @exclusivity(unchecked) var waiting = FrameQueues()

  /// The inputs of the next batch. Devices that come or go between two batches add inputs here; a
  /// read adds all other inputs.
  @exclusivity(unchecked) var nextInputs: [Controller.Input] = []
  @exclusivity(unchecked) private var reports: [Report] = []

  /// How many devices get a second descriptor when opened; see ``InputDevice/prepareQueries()``.
  /// People have fewer devices. If a program creates hundreds of devices, the descriptors are left
  /// to clients.
  private static let maxPreparedDevices = 64

  /// How many reads in a row have delayed the end of a device.
  var delayingReads = 0

  /// How many devices were ever opened and followed.
  private var openedCount = 0
  private let paths: DeviceFinder.Paths
  private(set) var eventSources: EventSources?
  private var openingErrors: [String: SystemError] = [:]
  /// The nodes of devices that have no role, with the status of each node when it was opened.
  private var nodesWithoutRole: [String: NodeStatus] = [:]
  private var leds = LEDCommand()
  /// Whether the devices that were present at the start are open.
  private var hasStarted = false

  /// The time up to which all devices have been read. An input without a time of its own gets
  /// this time: the input comes after the keys that were handed over, and before all later keys.
  var reached = Time(microseconds: 0)

  /// Whether the kernel is asked for the lock LEDs once all devices have been read: another
  /// program's grab hides events of LEDs too.
  var asksForLEDs = false
  /// The present or last delay before the kernel is asked for the lock LEDs, in microseconds.
  var ledDelay: Int64 = 0

  /// The event loop and its sources, which ``start(on:followingNewcomers:ready:)`` sets up.
  struct EventSources {
    let loop: EventLoop
    /// Calls `ready` although no descriptor is readable.
    let continuation: EventSource
    /// Asks for the lock LEDs some time after a press of a lock key.
    let ledTimer: EventSource
    /// Sets `ledTimer` after a switch of consoles.
    let consoles: ConsoleMonitor?
    var finder: DeviceFinder?
  }

  /// Keyboards without devices; ``start(on:followingNewcomers:ready:)`` finds the devices.
  public convenience init(_ selection: Selection) {
    self.init(selection, in: DeviceFinder.Paths())
  }

  init(_ selection: Selection, in paths: DeviceFinder.Paths) {
    (self.selection, self.paths) = (selection, paths)
  }

  /// The devices that are followed, in the order of opening, and their roles.
  public var devices: [(device: InputDevice, role: DeviceRole)] {
    followed.map { ($0.device, $0.role) }
  }

  /// How many keyboards are followed; other devices, such as a power button, do not count.
  public var keyboardCount: Int { followed.count { $0.role == .keyboard } }

  /// The number of nodes that could not be opened, although the selection may include them.
  public var unopenedCount: Int { openingErrors.count }

  /// Opens the selected devices that are present. If `followingNewcomers`, also opens selected
  /// devices that appear later.
  ///
  /// - Parameter ready: called from the loop when there is something to ``read(into:)`` or to log,
  ///   and once before this returns.
  /// - Throws: if devices cannot be watched or listed. A device that cannot be opened is reported.
  public func start(
    on loop: EventLoop, followingNewcomers: Bool = true, ready: @escaping () -> Void
  ) throws(SystemError) {
    let continuation = try loop.addDeferred(handler: ready)
    continuation.setPriority(.first)
    let ledTimer = try loop.addTimer { [unowned self] in
      ledDelayHasPassed()
      ready()
    }
    let consoles = try? ConsoleMonitor(loop) { [unowned self] in askForLEDsSoon() }
    // Unowned: the keyboards own the finder, so they outlive every call.
    let finder = try DeviceFinder(loop, in: paths) { [unowned self] in
      // Opening devices may take long, so the keys that were pressed before are served first.
      ready()
      do throws(SystemError) {
        try applySelection()
      } catch {
        reports.append(.failed(error))
      }
      ready()
    }
    // The loop reads keys before each client, so a key waits for at most one client.
    loop.serveUrgent = ready
    eventSources = EventSources(
      loop: loop, continuation: continuation, ledTimer: ledTimer, consoles: consoles,
      finder: finder)
    try applySelection()
    if !followingNewcomers { eventSources?.finder = nil }
    nextInputs.append(.allOpened(at: Self.now))
    hasStarted = true
    ready()
  }

  /// Changes the selection, and opens the devices that are selected now. With `Selection.all`, also
  /// closes the devices that are no longer selected. The next ``read(into:)`` returns the inputs
  /// that result. Throws if devices cannot be listed.
  public func follow(_ selection: Selection) throws(SystemError) {
    self.selection = selection
    nodesWithoutRole = [:]
    try applySelection()
  }

  /// Removes and returns the reports since the last call.
  public func takeReports() -> [Report] {
    let reports = reports
    self.reports = []
    return reports
  }

  /// Sets the LEDs of all devices that are followed for their keys, later devices too. While
  /// ``LEDCommand/used`` is empty, no device is opened for writing.
  public func show(_ leds: LEDCommand) {
    self.leds = leds
    for keyboard in followed { showLEDs(of: keyboard) }
  }

  /// Which of `keys` the kernel reports as up on this device, although no waiting input and no
  /// unread event of the device releases them.
  public func keysUp(among keys: [KeyCode], on id: DeviceID) -> [KeyCode] {
    guard let index = followed.firstIndex(where: { $0.id == id }) else { return [] }
    let waiting = waiting.inputs(of: index)
    return followed[index].device.keysUp(
      among: keys.filter { key in !waiting.contains { $0.mayRelease(key, on: id) } })
  }
}

// MARK: - Coming and going

extension Keyboards {
  /// Opens the devices that are present, selected and not open. With `Selection.all`, also closes
  /// devices that are no longer selected.
  private func applySelection() throws(SystemError) {
    switch selection {
    // Any of the paths may be a link that has only now been created.
    case .named(let paths):
      for path in paths where followedDevice(at: path) == nil { open(path, nil) }
    case .all:
      // Opens keyboards first: a recorder writes the first device's events straight into its file.
      var others: [DeviceFinder.Node] = []
      try eventSources?.finder?.forEachPresent { node in
        if node.kind?.contains(.keyboard) == false { others.append(node) } else { follow(node) }
      }
      for node in others { follow(node) }
    }
    // Permissions may have changed, so that LEDs can be switched now.
    show(leds)
  }

  /// Opens or closes the device of a node, as the selection says.
  private func follow(_ node: DeviceFinder.Node) {
    // A device that cannot be selected is not even opened.
    let isExcluded = node.isIgnored || !selection.maySelect(node.kind)
    if let present = followedDevice(at: node.path) {
      let kind = node.kind ?? present.kind
      let role = isExcluded ? nil : self.role(of: present.device, kind)
      guard role != present.role else { return }
      // The role decides which keys the kernel delivers, so a device with a new role is reopened.
      unfollow(present, .released(present.id, present.device))
    }
    if isExcluded {
      openingErrors[node.path] = nil
      return
    }
    // The kernel takes milliseconds to close a device, so a device without a role is opened only
    // once.
    if let known = nodesWithoutRole[node.path], known == NodeStatus(node.path, node.kind) { return }
    open(node.path, node.kind)
  }

  private func showLEDs(of keyboard: FollowedDevice) {
    guard [.keyboard, .keys].contains(keyboard.role), let error = keyboard.leds.show(leds) else {
      return
    }
    reports.append(.failedLEDs(keyboard.id, keyboard.device, error))
  }

  /// The followed device that this path leads to, even if it was opened by a different path.
  ///
  /// A removed device does not count, even if it still has unread events: the kernel can give its
  /// number to the next device at once.
  private func followedDevice(at path: String) -> FollowedDevice? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return followed.first { $0.device.number == status.st_rdev && !$0.device.isGone }
  }

  private func role(of device: InputDevice, _ kind: DeviceKind) -> DeviceRole? {
    selection.role(
      of: kind,
      isAllowed: { $0.allow(name: device.name, vendor: device.vendor, product: device.product) },
      isVirtualShift: device.isVirtualShift)
  }

  private func open(_ path: String, _ kind: DeviceKind?) {
    do {
      let device = try InputDevice(path: path)
      let status = NodeStatus(path, kind)
      let kind = kind ?? DeviceKind(device.description)
      guard let role = self.role(of: device, kind) else {
        (openingErrors[path], nodesWithoutRole[path]) = (nil, status)
        return
      }
      if role == .pointer { try device.deliver(only: Range(KeyCode.pointerButtonNumbers)) }
      if role == .leds { try device.deliver(only: 0..<0) }
      try follow(device, kind, role)
      openingErrors[path] = nil
    } catch {
      // A device that is missing after the start is no error: it may have gone since it was listed.
      if hasStarted, [ENOENT, ENODEV].contains(error.code) { return }
      // The same node can appear more than once; report the same error only once.
      if openingErrors.updateValue(error, forKey: path) != error { reports.append(.failed(error)) }
    }
  }

  private func follow(
    _ device: InputDevice, _ kind: DeviceKind, _ role: DeviceRole
  ) throws(SystemError) {
    try eventSources?.loop.addUrgent(device.descriptor)
    let id = DeviceID(order: openedCount, parent: parent(of: device))
    openedCount += 1
    var keyboard = FollowedDevice(
      id: id, device: device, kind: kind, role: role, leds: DeviceLEDs(of: device))
    for key in device.keysDown { keyboard.note(key, isDown: true, at: Self.now) }
    followed.append(keyboard)
    waiting.addQueue()
    reports.append(.followed(id, device))
    showLEDs(of: keyboard)
    if followed.count <= Self.maxPreparedDevices { device.prepareQueries() }
    nextInputs.append(.opened(id, held: device.keysDown))
    if !device.lockLEDs.known.isEmpty {
      nextInputs.append(.leds(id, device.lockLEDs, at: hasStarted ? reached : nil))
    }
  }

  /// The number of the physical device: the `order` of its first followed node. `nil` if no other
  /// node of the physical device is followed, because ``TwinKeys`` has nothing to do then.
  private func parent(of device: InputDevice) -> Int? {
    guard let parent = device.parent,
      let first = followed.firstIndex(where: { $0.device.parent == parent })
    else { return nil }
    let id = followed[first].id
    followed[first].id = DeviceID(order: id.order, parent: id.parent ?? id.order)
    return followed[first].id.parent
  }

  func unfollow(_ keyboard: FollowedDevice, _ report: Report) {
    eventSources?.loop.removeUrgent(keyboard.device.descriptor)
    _ = keyboard.leds.show(LEDCommand())
    guard let index = followed.firstIndex(where: { $0.id == keyboard.id }) else { return }
    followed.remove(at: index)
    asksForLEDs = true
    reports.append(report)
    let last = waiting.lastFrameTime(of: index) ?? reached
    nextInputs += waiting.removeQueue(index) + [.gone(keyboard.id, at: max(reached, last))]
  }
}

/// The identity of a node, the time of the last change of the node or its permissions, and its
/// kind.
private struct NodeStatus: Equatable {
  let device: dev_t
  let inode: ino_t
  let changed: [Int]
  let kind: DeviceKind?

  /// `nil` if there is no node at `path`.
  init?(_ path: String, _ kind: DeviceKind?) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, inode, self.kind) = (status.st_rdev, status.st_ino, kind)
    changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
  }
}

/// A device that is followed.
struct FollowedDevice {
  fileprivate(set) var id: DeviceID
  let device: InputDevice
  let kind: DeviceKind
  let role: DeviceRole
  let leds: DeviceLEDs

  /// The modifiers and pointer buttons that are down, and since when: see ``LongHold``.
  var held: [(key: KeyCode, since: Time)] = []

  /// Whether the last read may have left events unread.
  var mayHaveUnread = false
}
