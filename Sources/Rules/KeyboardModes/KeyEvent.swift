/// Identifies the device of a key event. Numbers follow the order of opening and are never reused.
public struct DeviceID: Hashable, Comparable, Sendable {
  /// The position in the order of opening, from 0.
  public let order: Int
  /// The number of the physical device that has this node and others; `nil` while no other node
  /// is known. The number can become known while the device is open, so `==` ignores it.
  public let parent: Int?

  /// The device at position `order` in the order of opening.
  public init(order: Int, parent: Int? = nil) { (self.order, self.parent) = (order, parent) }

  /// Whether both have the same ``order``, and so are the same device.
  public static func == (lhs: DeviceID, rhs: DeviceID) -> Bool { lhs.order == rhs.order }

  /// Hashes ``order``.
  public func hash(into hasher: inout Hasher) { hasher.combine(order) }

  /// Whether `lhs` was opened before `rhs`.
  public static func < (lhs: DeviceID, rhs: DeviceID) -> Bool { lhs.order < rhs.order }
}

/// One `EV_KEY` event of one device.
public struct KeyEvent: Hashable, Sendable {
  /// The change of the key; the raw value is the kernel's.
  public enum Action: Int32, Sendable {
    /// The key came up.
    case release = 0
    /// The key went down.
    case press = 1
    /// The kernel or the keyboard repeats a key that is down.
    case autorepeat = 2
  }

  /// The kernel's timestamp of the event.
  public let time: Time
  /// The key.
  public let key: KeyCode
  /// The press, release or autorepeat of the key.
  public let action: Action
  /// Whether this event has the frame and the time of the previous key event of its device.
  public let continuesFrame: Bool

  /// The event of `key` at `time`.
  public init(time: Time, key: KeyCode, action: Action, continuesFrame: Bool = false) {
    (self.time, self.key, self.action) = (time, key, action)
    self.continuesFrame = continuesFrame
  }
}

/// A key whose state turned out to have changed while events were being lost.
public struct KeyDifference: Hashable, Sendable {
  /// The key.
  public let key: KeyCode
  /// Whether the key is down now.
  public let isDown: Bool

  /// The difference of `key`, which is down or up now.
  public init(key: KeyCode, isDown: Bool) { (self.key, self.isDown) = (key, isDown) }

  /// The differences in the order in which they take effect: releases, modifiers other than Shift,
  /// Shift, other keys.
  ///
  /// `differences` is in the order of the codes; the order of the changes is unknown. A letter or
  /// Shift that is found down together with Ctrl is probably part of a shortcut, so Ctrl takes
  /// effect first.
  static func inOrderOfEffect(_ differences: [KeyDifference]) -> [KeyDifference] {
    let down = differences.filter(\.isDown)
    let shifts = down.filter(\.key.isShift)
    let modifiers = down.filter { !Modifiers(of: $0.key).isEmpty && !$0.key.isShift }
    let others = down.filter { Modifiers(of: $0.key).isEmpty }
    return differences.filter { !$0.isDown } + modifiers + shifts + others
  }
}
