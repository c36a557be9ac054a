/// Counts one press for a key that a keyboard reports on several of its nodes, as some keyboards
/// with N-key rollover do.
///
///     node 1   P--------R           P: a press, R: a release
///     node 2     P--------R         a press less than 20 ms after the press of node 1
///     counts   P----------R         all as events of node 1
///
/// Presses of the same key on two nodes of one physical device (``DeviceID/parent``) are one press
/// if they are less than 20 ms apart. A second press that is found after a loss of events is part
/// of the first press if the key is still down. The press lasts until the key is up on all these
/// nodes, or until the node whose events count goes away.
///
/// If a node presses the key again while other nodes still hold it, that is a new press. But a
/// press less than 20 ms after the node's own release is a bounce of the switch and does not count.
public struct TwinKeys: Sendable {
  /// Keyboards that are polled every 8 to 10 ms report the second press up to this much later.
  static let window = Duration.milliseconds(20)

  /// A key that is down on a node, or went up less than ``window`` before the last press.
  private struct NodeKey: Sendable {
    let key: DeviceKey
    /// The key that the events count for: `key`, or the key of the first node.
    let counted: DeviceKey
    /// When the press that counts began.
    let pressed: Time
    var released: Time?

    var isDown: Bool { released == nil }
  }

  private var nodeKeys: [NodeKey] = []

  /// Begins without keys that are down.
  public init() {}

  /// Returns what replaces `input`: each press counts once. Redacted recordings have these inputs.
  public mutating func handle(_ input: Controller.Input) -> [Controller.Input] {
    switch input {
    case .key(let device, let event):
      return handle(event, of: device).map { [.key($0.device, event)] } ?? []
    case .missedRelease(let device, let code, let time):
      return release(DeviceKey(device, code), at: time)
        .map { [.missedRelease($0.device, code, at: time)] } ?? []
    case .synchronized(let device, let differences, let time):
      var rest: [KeyDifference] = []
      var others: [Controller.Input] = []
      for difference in differences {
        let key = DeviceKey(device, difference.key)
        let counted =
          difference.isDown ? press(key, at: time, wasSeen: false) : release(key, at: time)
        guard let counted else { continue }
        if counted == key {
          rest.append(difference)
        } else {
          others.append(.synchronized(counted.device, [difference], at: time))
        }
      }
      return others + [.synchronized(device, rest, at: time)]
    case .gone(let device, let time):
      return remove(device).map { key in
        .key(key.device, KeyEvent(time: time, key: key.code, action: .release))
      } + [input]
    case .opened, .allOpened, .leds, .client, .configured: return [input]
    }
  }

  /// The key for which the event counts; `nil` if it does not count.
  @inline(__always)
  mutating func handle(_ event: KeyEvent, of device: DeviceID) -> DeviceKey? {
    let key = DeviceKey(device, event.key)
    return device.parent == nil ? key : handle(event, of: key)
  }

  private mutating func handle(_ event: KeyEvent, of key: DeviceKey) -> DeviceKey? {
    switch event.action {
    case .press: press(key, at: event.time, wasSeen: true)
    case .release: release(key, at: event.time)
    case .autorepeat: nodeKeys.first { $0.key == key }?.counted ?? key
    }
  }

  private mutating func press(_ key: DeviceKey, at time: Time, wasSeen: Bool) -> DeviceKey? {
    guard key.device.parent != nil else { return key }
    nodeKeys.removeAll { $0.released.map { !time.isWithin(Self.window, of: $0) } ?? false }
    let own = nodeKeys.firstIndex { $0.key == key }.map { nodeKeys.remove(at: $0) }
    func add(to counted: DeviceKey, since pressed: Time) {
      nodeKeys.append(NodeKey(key: key, counted: counted, pressed: pressed))
    }
    let twin = nodeKeys.first {
      $0.key.code == key.code && $0.key.device.parent == key.device.parent
        && $0.counted != own?.counted
        && (wasSeen ? time.isWithin(Self.window, of: $0.pressed) : $0.isDown)
    }
    if let twin {
      add(to: twin.counted, since: twin.pressed)
      return nil
    }
    guard let own else {
      add(to: key, since: time)
      return key
    }
    let pressLasts = isDown(own.counted)
    if pressLasts, !own.isDown || time.isWithin(Self.window, of: own.pressed) {
      add(to: own.counted, since: own.pressed)
      return nil
    }
    // If no other node holds the key, this may be a bounce of the same press: see ``Debouncer``.
    let counted = pressLasts ? key : own.counted
    add(to: counted, since: time)
    return counted
  }

  private mutating func release(_ key: DeviceKey, at time: Time) -> DeviceKey? {
    guard let index = nodeKeys.firstIndex(where: { $0.key == key }) else { return key }
    nodeKeys[index].released = time
    return isDown(nodeKeys[index].counted) ? nil : nodeKeys[index].counted
  }

  /// Forgets the keys of a device that went away. Returns other devices' keys that this releases.
  private mutating func remove(_ device: DeviceID) -> [DeviceKey] {
    let gone = nodeKeys.filter { $0.key.device == device && $0.isDown }.map(\.counted)
    nodeKeys.removeAll { $0.key.device == device || $0.counted.device == device }
    return gone.filter { $0.device != device && !isDown($0) }
  }

  /// Whether a node holds a key whose events count for `counted`.
  private func isDown(_ counted: DeviceKey) -> Bool {
    nodeKeys.contains { $0.counted == counted && $0.isDown }
  }

  /// The nodes that hold `keys`, each with the keys that it holds. All `keys` count as keys of
  /// `device`, but other nodes of the keyboard may hold them.
  func holders(of keys: [KeyCode], on device: DeviceID) -> [(device: DeviceID, keys: [KeyCode])] {
    guard !keys.isEmpty else { return [] }
    let twins = nodeKeys.filter {
      $0.counted.device == device && $0.isDown && keys.contains($0.counted.code)
    }.map(\.key)
    guard twins.contains(where: { $0.device != device }) else { return [(device, keys)] }
    let own = keys.filter { code in
      twins.allSatisfy { $0.code != code } || twins.contains(DeviceKey(device, code))
    }
    return (own.isEmpty ? [] : [(device, own)])
      + twins.filter { $0.device != device }.map { ($0.device, [$0.code]) }
  }
}
