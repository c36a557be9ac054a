public import Evdev
internal import Glibc
public import KeyboardModes
public import SystemCalls
public import Systemd

/// Finds, opens, reads and closes the keyboards that are followed.
public final class Keyboards {
  /// Which devices to follow.
  public enum Selection {
    /// All devices that udev classifies as keyboards, or would if it ran, and devices with other
    /// keys (`ID_INPUT_KEY`) that have one of `boundKeys`, if the rules allow them. Consumer keys,
    /// such as the one for dictation, arrive on a node of their own.
    case all(boundKeys: Set<KeyCode>, DeviceRules)
    /// The devices at these paths, now or when they appear.
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
    /// A device cannot be opened, or can no longer be read.
    case failed(SystemError)
    /// The device is followed, but its LEDs cannot be switched.
    case unlit(DeviceID, InputDevice, SystemError)
  }

  private struct Followed {
    let id: DeviceID
    let device: InputDevice
    let isKeyboard: Bool
    let number: dev_t
    let source: EventSource
    let lights: DeviceLights

    /// Whether there may be something to read now.
    var isReady = false

    /// Whether the last read may have left events unread.
    var hasMore = false
  }

  /// After this many key events, at the next end of a frame, the other devices are served.
  private static let turn = 64

  private let loop: EventLoop
  private var selection: Selection
  private let deliver: ([Controller.Input]) -> Void
  private let report: (Report) -> Void
  private var followed: [Followed] = []

  /// Inputs that were read but not yet delivered, by the indices of ``followed``.
  private var waiting = FrameQueues()

  /// An empty array whose memory is reused by each delivery.
  private var due: [Controller.Input] = []
  private var opened = 0
  private var finder: DeviceFinder?
  private let places: DeviceFinder.Places
  private var continuation: EventSource?
  private var unopened: [String: SystemError] = [:]
  private var lights: (lit: Lights, used: Lights) = ([], [])

  /// Keyboards without devices; ``start(followingNewcomers:)`` finds them.
  ///
  /// - Parameters:
  ///   - deliver: receives inputs, in the order in which they are to act.
  ///   - report: receives what belongs in a log.
  public convenience init(
    _ loop: EventLoop, _ selection: Selection, deliver: @escaping ([Controller.Input]) -> Void,
    report: @escaping (Report) -> Void
  ) {
    self.init(loop, selection, in: DeviceFinder.Places(), deliver: deliver, report: report)
  }

  init(
    _ loop: EventLoop, _ selection: Selection, in places: DeviceFinder.Places,
    deliver: @escaping ([Controller.Input]) -> Void, report: @escaping (Report) -> Void
  ) {
    self.loop = loop
    self.selection = selection
    self.places = places
    self.deliver = deliver
    self.report = report
  }

  /// The devices that are followed, in the order of opening, and whether each is a whole keyboard.
  public var devices: [(device: InputDevice, isKeyboard: Bool)] {
    followed.map { ($0.device, $0.isKeyboard) }
  }

  /// How many devices are followed.
  public var count: Int { followed.count }

  /// Opens the selected devices that are present and, if `followingNewcomers`, those that appear
  /// later.
  ///
  /// - Throws: if devices cannot be watched or listed. A device that cannot be opened is reported.
  public func start(followingNewcomers: Bool = true) throws(SystemError) {
    let continuation = try loop.addDeferred { [unowned self] in _ = readAll() }
    continuation.take(.first)
    self.continuation = continuation
    let finder = try DeviceFinder(loop, in: places) { [unowned self] node in appeared(node) }
    self.finder = finder
    switch selection {
    case .all: try finder.forEachPresent { appeared($0) }
    case .named(let paths): openNamed(paths)
    }
    if !followingNewcomers { self.finder = nil }
  }

  /// Changes the selection: closes the devices that are no longer selected, and opens those that
  /// are selected now.
  ///
  /// - Throws: if devices cannot be listed.
  public func follow(_ selection: Selection) throws(SystemError) {
    self.selection = selection
    readAll()
    try finder?.forEachPresent { appeared($0) }
  }

  /// Switches each LED in `used` on if it is in `lit`, and off otherwise, on all devices that are
  /// followed now or later. While `used` is empty, no device is opened for writing.
  public func light(_ lit: Lights, of used: Lights) {
    lights = (lit, used)
    for keyboard in followed { light(keyboard) }
  }

  /// Which of `keys` the kernel reports as up on this device, although no undelivered input and no
  /// unread event of the device releases them.
  public func keysUp(among keys: [KeyCode], on id: DeviceID) -> [KeyCode] {
    guard let place = followed.firstIndex(where: { $0.id == id }) else { return [] }
    let waiting = waiting.inputs(of: place)
    return followed[place].device.keysUp(
      among: keys.filter { key in !waiting.contains { $0.mayRelease(key, on: id) } })
  }
}

// MARK: - Coming and going

extension Keyboards {
  private func appeared(_ node: DeviceFinder.Node) {
    switch selection {
    // Any of the paths may be a link that has only now been created.
    case .named(let paths): openNamed(paths)
    case .all(let boundKeys, let rules):
      // A device that cannot be selected is not even opened.
      let isHopeless = node.kind == .other || node.isIgnored
      guard let keyboard = followedDevice(at: node.path) else {
        if !isHopeless { open(node.path, node.kind) { Self.wants($0, $1, boundKeys, rules) } }
        return
      }
      let kind = node.kind ?? DeviceKind(keyboard.device.keys)
      if isHopeless || !Self.wants(keyboard.device, kind, boundKeys, rules) {
        letGo(keyboard, .released(keyboard.id, keyboard.device))
      }
    }
    // Try again: its permissions may have changed, or the configuration was reloaded.
    guard !lights.used.isEmpty, let keyboard = followedDevice(at: node.path) else { return }
    keyboard.lights.tryAgain()
    light(keyboard)
  }

  private func light(_ keyboard: Followed) {
    guard let error = keyboard.lights.show(lights.lit, of: lights.used) else { return }
    report(.unlit(keyboard.id, keyboard.device, error))
  }

  private static func wants(
    _ device: InputDevice, _ kind: DeviceKind, _ boundKeys: Set<KeyCode>, _ rules: DeviceRules
  ) -> Bool {
    switch kind {
    case .keyboard: rules.allow(device)
    case .keys: rules.allow(device) && boundKeys.contains { device.has($0) }
    case .other: false
    }
  }

  private func openNamed(_ paths: [String]) {
    for path in paths where followedDevice(at: path) == nil { open(path, nil) { _, _ in true } }
  }

  /// The followed device that this path leads to, even if it was opened by a different path.
  ///
  /// A removed device does not count, even if it still has unread events: the kernel can give its
  /// number to the next device at once.
  private func followedDevice(at path: String) -> Followed? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return followed.first { $0.number == status.st_rdev && !$0.device.isGone }
  }

  private func open(
    _ path: String, _ kind: DeviceKind?, where isWanted: (InputDevice, DeviceKind) -> Bool
  ) {
    do {
      let device = try InputDevice(path: path)
      let kind = kind ?? DeviceKind(device.keys)
      guard isWanted(device, kind) else { return }
      try follow(device, isKeyboard: kind == .keyboard)
      unopened[path] = nil
    } catch {
      // The same node can appear more than once; report the same error only once.
      if unopened.updateValue(error, forKey: path) != error { report(.failed(error)) }
    }
  }

  private func follow(_ device: InputDevice, isKeyboard: Bool) throws(SystemError) {
    var status = stat()
    try retrying("follow", device.path) { fstat(device.fileDescriptor, &status) }
    let id = DeviceID(order: opened)
    let source = try loop.addIO(device.fileDescriptor, .readable) { [unowned self] _ in
      _ = readAll()
    }
    // Served first, so that a key waits for at most one client, however many there are.
    source.take(.first)
    opened += 1
    let keyboard = Followed(
      id: id, device: device, isKeyboard: isKeyboard, number: status.st_rdev, source: source,
      lights: DeviceLights(of: device))
    followed.append(keyboard)
    waiting.addPlace()
    report(.followed(id, device))
    light(keyboard)
    deliver([.opened(id, held: device.keysDown)])
  }

  private func letGo(_ keyboard: Followed, _ why: Report) {
    keyboard.source.end()
    _ = keyboard.lights.show([], of: [])
    guard let place = followed.firstIndex(where: { $0.id == keyboard.id }) else { return }
    followed.remove(at: place)
    let rest = waiting.removePlace(place)
    report(why)
    deliver(rest + [.gone(keyboard.id)])
  }
}

// MARK: - Reading

extension Keyboards {
  /// The result of reading one device.
  private enum Outcome {
    case drained
    case more
    case ended(SystemError?)
  }

  /// Reads all devices, and delivers their events up to now in the order of time.
  ///
  /// It does not matter which device woke the loop: on a busy machine, other devices may have
  /// earlier and later events by the time that the daemon runs. Events that occur while the devices
  /// are read, one after the other, wait until all devices have been read again, so that no event
  /// overtakes an earlier one.
  ///
  /// - Returns: the time up to which all events that the kernel had have been delivered.
  @discardableResult
  public func readAll() -> Time {
    var limit = Time(microseconds: microsecondsSinceBoot())
    var ended: [(DeviceID, SystemError?)] = []
    findReady()
    for place in followed.indices where followed[place].isReady {
      let outcome = Self.read(
        followed[place].device, followed[place].id, into: &waiting, at: place)
      followed[place].hasMore = false
      switch outcome {
      case .drained: break
      case .more:
        followed[place].hasMore = true
        if let last = waiting.lastTime(of: place) { limit = min(limit, last) }
      case .ended(let error): ended.append((followed[place].id, error))
      }
    }
    deliver(upTo: limit)
    for (id, error) in ended {
      guard let keyboard = followed.first(where: { $0.id == id }) else { continue }
      letGo(keyboard, error.map(Report.failed) ?? .gone(id, keyboard.device))
    }
    // Events in `waiting` or in libevdev's queue do not make a descriptor readable, so call again.
    if !waiting.isEmpty || followed.contains(where: \.hasMore) { continuation?.callSoon() }
    return limit
  }

  private func deliver(upTo limit: Time) {
    // Take them out of `waiting` before they act: ``keysUp(among:on:)``, called meanwhile, does not
    // ask the kernel about keys that an input in `waiting` may release.
    var inputs: [Controller.Input] = []
    swap(&inputs, &due)
    waiting.take(upTo: limit, into: &inputs)
    guard !inputs.isEmpty else { return swap(&inputs, &due) }
    deliver(inputs)
    inputs.removeAll(keepingCapacity: true)
    swap(&inputs, &due)
  }

  /// Finds out which devices have something to read.
  private func findReady() {
    // A single device is read without `poll`.
    guard followed.count > 1 else {
      for place in followed.indices { followed[place].isReady = true }
      return
    }
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: followed.count) { entries in
      for (place, keyboard) in followed.enumerated() {
        entries.initializeElement(
          at: place,
          to: pollfd(fd: keyboard.device.fileDescriptor, events: Int16(POLLIN), revents: 0))
      }
      // If `poll` fails, read every device.
      let isKnown = poll(entries.baseAddress, nfds_t(entries.count), 0) >= 0
      for place in followed.indices {
        followed[place].isReady =
          !isKnown || entries[place].revents != 0 || followed[place].hasMore
      }
    }
  }

  private static func read(
    _ device: InputDevice, _ id: DeviceID, into waiting: inout FrameQueues, at place: Int
  ) -> Outcome {
    defer { waiting.endFrame(of: place) }
    var count = 0
    do {
      while true {
        switch try device.next() {
        case .key(let event):
          waiting.append(.key(id, event), at: event.time, of: place)
          count += 1
        case .synchronized(let differences, let time):
          waiting.endFrame(of: place)
          waiting.append(.synchronized(id, differences, at: time), at: time, of: place)
          waiting.endFrame(of: place)
          count += 1
        case .frameEnd:
          waiting.endFrame(of: place)
          if count >= turn { return .more }
        case .drained: return .drained
        case .gone: return .ended(nil)
        }
      }
    } catch {
      return .ended(error)
    }
  }
}
