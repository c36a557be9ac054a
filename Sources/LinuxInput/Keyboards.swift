public import Evdev
internal import Glibc
public import KeyboardModes
public import SystemCalls
public import Systemd

/// The keyboards that are followed: found, opened, read and let go.
public final class Keyboards {
  /// Which devices to follow.
  public enum Selection {
    /// All that udev calls keyboards, and those with other keys that have one of these keys, where
    /// the rules allow them. Consumer keys, such as the one for dictation, arrive on a node of their
    /// own.
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
  }

  private struct Followed {
    let id: DeviceID
    let device: InputDevice
    let number: dev_t
    let source: EventSource
  }

  /// How many key events are read of one device before the others have their turn.
  private static let turn = 64

  private let loop: EventLoop
  private var selection: Selection
  private let deliver: ([Controller.Input]) -> Void
  private let report: (Report) -> Void
  private var followed: [Followed] = []
  private var opened = 0
  private var monitor: DeviceMonitor?
  private var continuation: EventSource?
  private var unopened: [String: SystemError] = [:]

  /// Keyboards that are not yet looked for.
  ///
  /// - Parameters:
  ///   - deliver: takes what happened, in the order in which it is to act.
  ///   - report: takes what belongs in a log.
  public init(
    _ loop: EventLoop, _ selection: Selection, deliver: @escaping ([Controller.Input]) -> Void,
    report: @escaping (Report) -> Void
  ) {
    self.loop = loop
    self.selection = selection
    self.deliver = deliver
    self.report = report
  }

  /// The devices that are followed, in the order of opening.
  public var devices: [InputDevice] { followed.map(\.device) }

  /// How many devices are followed.
  public var count: Int { followed.count }

  /// Opens all that are there, and from now on those that come, unless only the former are wanted.
  public func start(followingNewcomers: Bool = true) throws(SystemError) {
    continuation = try loop.addDeferred { [unowned self] in read { _ in true } }
    let monitor = try DeviceMonitor(loop) { [unowned self] device in appeared(device) }
    self.monitor = monitor
    switch selection {
    case .all: try monitor.forEachPresent { appeared($0) }
    case .named(let paths): for path in paths { open(path) { _ in true } }
    }
    if !followingNewcomers { self.monitor = nil }
  }

  /// Follows other devices from now on: lets go of those that are not wanted any more, and opens those
  /// that are now.
  public func follow(_ selection: Selection) throws(SystemError) {
    self.selection = selection
    readAll()
    try monitor?.forEachPresent { device in
      guard let keyboard = followed.first(where: { $0.device.path == device.node }) else {
        return appeared(device)
      }
      if !isWanted(device, keyboard.device) {
        letGo(keyboard, .released(keyboard.id, keyboard.device))
      }
    }
  }

  /// Reads what has happened by now on any keyboard, and delivers it.
  public func readAll() { read { _ in true } }

  /// Which of `keys` the kernel says are up on this device, although nothing more of it waits to be
  /// read.
  public func keysUp(among keys: [KeyCode], on id: DeviceID) -> [KeyCode] {
    followed.first { $0.id == id }?.device.keysUp(among: keys) ?? []
  }
}

// MARK: - Coming and going

extension Keyboards {
  private func appeared(_ device: UdevDevice) {
    switch selection {
    case .named(let paths):
      // Any of them may be a link that is there only now.
      for path in paths { open(path) { _ in true } }
    case .all:
      // What cannot be a keyboard is not even opened.
      guard device.property("ID_INPUT_KEYBOARD") == "1" || device.property("ID_INPUT_KEY") == "1",
        device.property("KEYMODED_IGNORE") != "1"
      else { return }
      open(device.node) { isWanted(device, $0) }
    }
  }

  private func isWanted(_ device: UdevDevice, _ opened: InputDevice) -> Bool {
    guard case .all(let boundKeys, let rules) = selection else { return true }
    guard device.property("KEYMODED_IGNORE") != "1", rules.allow(opened) else { return false }
    return device.property("ID_INPUT_KEYBOARD") == "1"
      || (device.property("ID_INPUT_KEY") == "1" && boundKeys.contains { opened.has($0) })
  }

  private func open(_ path: String, where isWanted: (InputDevice) -> Bool) {
    var status = stat()
    if stat(path, &status) == 0, followed.contains(where: { $0.number == status.st_rdev }) {
      return
    }
    do {
      let device = try InputDevice(path: path)
      guard isWanted(device) else { return }
      try follow(device, number: status.st_rdev)
      unopened[path] = nil
    } catch {
      // Udev tells of a device more than once; say the same only once.
      if unopened.updateValue(error, forKey: path) != error { report(.failed(error)) }
    }
  }

  private func follow(_ device: InputDevice, number: dev_t) throws(SystemError) {
    let id = DeviceID(order: opened)
    let source = try loop.addIO(device.fileDescriptor, .readable) { [unowned self] _ in
      // The other devices that were found ready in this wakeup are read with it.
      read { $0.id == id || $0.source.isPending }
    }
    opened += 1
    followed.append(Followed(id: id, device: device, number: number, source: source))
    report(.followed(id, device))
    deliver([.opened(id, held: device.keysDown)])
  }

  private func letGo(_ keyboard: Followed, _ why: Report) {
    keyboard.source.end()
    followed.removeAll { $0.id == keyboard.id }
    report(why)
    deliver([.gone(keyboard.id)])
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

  private func read(where isReady: (Followed) -> Bool) {
    var queues: [[Frame]] = []
    var ended: [(Followed, SystemError?)] = []
    var isUnfinished = false
    for keyboard in followed where isReady(keyboard) {
      var frames: [Frame] = []
      switch readFrames(of: keyboard, into: &frames) {
      case .drained: break
      case .more: isUnfinished = true
      case .ended(let error): ended.append((keyboard, error))
      }
      queues.append(frames)
    }
    let inputs = Frame.merged(queues).flatMap(\.inputs)
    if !inputs.isEmpty { deliver(inputs) }
    for (keyboard, error) in ended {
      letGo(keyboard, error.map(Report.failed) ?? .gone(keyboard.id, keyboard.device))
    }
    // What libevdev has read ahead does not make the descriptor readable again.
    if isUnfinished { continuation?.callSoon() }
  }

  private func readFrames(of keyboard: Followed, into frames: inout [Frame]) -> Outcome {
    let id = keyboard.id
    var frame: Frame?
    var count = 0
    func add(_ input: Controller.Input, at time: Time) {
      var current = frame ?? Frame(time: time, device: id, inputs: [])
      current.inputs.append(input)
      frame = current
    }
    func endFrame() {
      if let whole = frame { frames.append(whole) }
      frame = nil
    }
    defer { endFrame() }
    do {
      while true {
        switch try keyboard.device.next() {
        case .key(let event):
          add(.key(id, event), at: event.time)
          count += 1
        case .synchronized(let differences, let time):
          endFrame()
          add(.synchronized(id, differences, at: time), at: time)
          endFrame()
          count += 1
        case .frameEnd:
          endFrame()
          if count >= Self.turn { return .more }
        case .drained: return .drained
        case .gone: return .ended(nil)
        }
      }
    } catch {
      return .ended(error)
    }
  }
}
