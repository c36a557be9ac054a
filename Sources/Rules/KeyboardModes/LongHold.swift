/// A modifier or a pointer's button that has been held for a minute, and so may be stuck. While
/// Ctrl, left Alt or Meta is stuck, Shift is part of a shortcut, and keys type no characters.
public struct LongHold: Hashable, Sendable {
  /// How long a key must be held.
  public static let minDuration = Duration.seconds(60)

  /// The name of the device that has the key.
  public let device: String
  /// Whether the key is a button; otherwise it is a modifier. The key itself stays private.
  public let isButton: Bool
  /// When the key went down, or was found down.
  public let since: Time

  /// The hold of a modifier or button of `device` since this time.
  public init(device: String, isButton: Bool, since: Time) {
    (self.device, self.isButton, self.since) = (device, isButton, since)
  }

  /// What is held, in words.
  public var kind: String { isButton ? "a pointer button" : "a modifier" }
}
