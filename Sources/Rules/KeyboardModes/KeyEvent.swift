/// Identifies the device of a key event. Numbers follow the order of opening and are never reused.
public struct DeviceID: Hashable, Comparable, Sendable {
  /// The position in the order of opening, from 0.
  public let order: Int
  /// The number of the physical device that has this node and others; `nil` while no other node
  /// is known. It can appear while the device is open, so it is not compared. See ``TwinKeys``.
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

  /// When it happened, as stamped by the kernel.
  public let time: Time
  /// The key.
  public let key: KeyCode
  /// The press, release or autorepeat of the key.
  public let action: Action
  /// Whether it is in the frame of the key event before it on its device, and has the same time.
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
  /// Whether it is down now.
  public let isDown: Bool

  /// The difference of `key`, which is down or up now.
  public init(key: KeyCode, isDown: Bool) { (self.key, self.isDown) = (key, isDown) }

  /// The differences in the order in which they take effect: releases, then modifiers, Shift last
  /// among them, then the rest.
  ///
  /// They come in the order of their codes; the order of the changes is unknown. A letter, or
  /// Shift, that is found down together with Ctrl is probably part of a shortcut, so Ctrl takes
  /// effect first.
  static func inOrderOfEffect(_ differences: [KeyDifference]) -> [KeyDifference] {
    let down = differences.filter(\.isDown)
    let shifts = down.filter(\.key.isShift)
    let modifiers = down.filter { !Modifiers(of: $0.key).isEmpty && !$0.key.isShift }
    let others = down.filter { Modifiers(of: $0.key).isEmpty }
    return differences.filter { !$0.isDown } + modifiers + shifts + others
  }
}
