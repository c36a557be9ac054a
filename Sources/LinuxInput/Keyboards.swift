public import Evdev
internal import Glibc
public import KeyboardModes
public import SystemCalls
public import Systemd

/// The keyboards that are followed: found, opened, read and let go.
public final class Keyboards {
  /// Which devices to follow.
  public enum Selection {
    /// All that udev calls keyboards, or would, and those with other keys that have one of these
    /// keys, where the rules allow them. Consumer keys, such as the one for dictation, arrive on a
    /// node of their own.
    case all(boundKeys: Set<KeyCode>, DeviceRules)
    /// Those at these paths, now or whenever they appear.
    case named([String])
  }

  /// What happened to a device, for the log.
  public enum Report {
    /// The device is followed from now on.
    case followed(DeviceID, InputDevice)
    /// The device was removed.
    case gone(DeviceID, InputDevice)
    /// The device is there, but not followed any more.
    case released(DeviceID, InputDevice)
    /// A device cannot be opened, or can be read no more.
    case failed(SystemError)
    /// The device is followed, but its lights cannot be switched.
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

    /// Whether there may be more than was read so far.
    var hasMore = false
  }

  /// How many key events are read of one device before the others have their turn.
  private static let turn = 64

  private let loop: EventLoop
  private var selection: Selection
  private let deliver: ([Controller.Input]) -> Void
  private let report: (Report) -> Void
  private var followed: [Followed] = []

  /// What was read and has yet to act; the places are those of ``followed``.
  private var waiting = FrameQueues()

  /// Memory for what is delivered next.
  private var due: [Controller.Input] = []
  private var opened = 0
  private var finder: DeviceFinder?
  private let places: DeviceFinder.Places
  private var continuation: EventSource?
  private var unopened: [String: SystemError] = [:]
  private var lights: (lit: Lights, used: Lights) = ([], [])

  /// Keyboards that are not yet looked for.
  ///
  /// - Parameters:
  ///   - deliver: takes what happened, in the order in which it is to act.
  ///   - report: takes what belongs in a log.
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

  /// The devices that are followed, in the order of opening, and which of them are whole keyboards.
  public var devices: [(device: InputDevice, isKeyboard: Bool)] {
    followed.map { ($0.device, $0.isKeyboard) }
  }

  /// How many devices are followed.
  public var count: Int { followed.count }

  /// Opens all that are there, and from now on those that come, unless only the former are wanted.
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

  /// Follows other devices from now on: lets go of those that are not wanted any more, and opens those
  /// that are now.
  public func follow(_ selection: Selection) throws(SystemError) {
    self.selection = selection
    readAll()
    try finder?.forEachPresent { appeared($0) }
  }

  /// Has, of the lights that are `used`, those on that are in `lit` and the others off, on every device
  /// that has them, now and when it comes. While none is used, no device is opened for writing.
  public func light(_ lit: Lights, of used: Lights) {
    lights = (lit, used)
    for keyboard in followed { light(keyboard) }
  }

  /// Which of `keys` the kernel says are up on this device, although nothing of it that waits to act
  /// or to be read can have released them.
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
    // Any of them may be a link that is there only now.
    case .named(let paths): openNamed(paths)
    case .all(let boundKeys, let rules):
      // What cannot be wanted is not even opened.
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
    // It may have been given permissions, or all are looked at because somebody changed something.
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

  /// The followed device that this path leads to, by whatever path it was opened.
  ///
  /// The kernel gives the number of a device that was removed to the next one, at once. What is gone
  /// is therefore no answer, though it may still have to be read.
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
      // Of a device is told more than once; say the same only once.
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
    // A key waits for one client at most, however many there are.
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
  /// What one device had to say.
  private enum Outcome {
    case drained
    case more
    case ended(SystemError?)
  }

  /// Reads what has happened by now on any keyboard, and delivers it.
  ///
  /// Which of them made the loop wake up does not matter: by the time that a busy machine lets the
  /// daemon go on, others may have been typed on, before and after. What happens while they are read,
  /// one after the other, waits until all have been read again, so that nothing overtakes what
  /// happened before it.
  ///
  /// - Returns: the time up to which all that the kernel had to tell has been delivered.
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
    // Nothing of this makes a descriptor readable again, libevdev's having read ahead included.
    if !waiting.isEmpty || followed.contains(where: \.hasMore) { continuation?.callSoon() }
    return limit
  }

  private func deliver(upTo limit: Time) {
    // While they act, none of them waits any more: the kernel is not asked about a device of which
    // more is known.
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
    // With one, there is nobody else to ask.
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
      // Where the kernel does not say, the reading does.
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
