/// Which keyboard a key event came from. Numbered in the order of opening, never used twice.
public struct DeviceID: Hashable, Comparable, Sendable {
  /// The place in the order of opening, from 0.
  public let order: Int

  /// The device that was opened `order`th.
  public init(order: Int) { self.order = order }

  /// Whether `lhs` was opened before `rhs`.
  public static func < (lhs: DeviceID, rhs: DeviceID) -> Bool { lhs.order < rhs.order }
}

/// One `EV_KEY` event of one device.
public struct KeyEvent: Hashable, Sendable {
  /// What happened to the key; the raw value is the kernel's.
  public enum Action: Int32, Sendable {
    /// The key came up.
    case release = 0
    /// The key went down.
    case press = 1
    /// The key is down for so long that the kernel or the keyboard repeats it.
    case autorepeat = 2
  }

  /// When it happened, as stamped by the kernel.
  public let time: Time
  /// The key.
  public let key: KeyCode
  /// What happened to it.
  public let action: Action

  /// The event of `key` at `time`.
  public init(time: Time, key: KeyCode, action: Action) {
    self.time = time
    self.key = key
    self.action = action
  }
}

/// A key whose state turned out to have changed while events were being lost.
public struct KeyDifference: Hashable, Sendable {
  /// The key.
  public let key: KeyCode
  /// Whether it is down now.
  public let isDown: Bool

  /// The finding that `key` is down, or up, now.
  public init(key: KeyCode, isDown: Bool) {
    self.key = key
    self.isDown = isDown
  }
}

extension KeyDifference {
  /// Differences come in the order of their codes, which says nothing about the order in which they
  /// happened. Releases first, then modifiers, then the rest: a letter found down together with Ctrl
  /// is a shortcut more likely than a letter.
  static func inOrderOfEffect(_ differences: [KeyDifference]) -> [KeyDifference] {
    let down = differences.filter(\.isDown)
    let modifiers = down.filter { !Modifiers(of: $0.key).isEmpty }
    let others = down.filter { Modifiers(of: $0.key).isEmpty }
    return differences.filter { !$0.isDown } + modifiers + others
  }
}
