/// An error in a YAML text, and its position.
public struct YAMLError: Error, Hashable {
  /// The position.
  public let mark: Mark
  /// The error in words.
  public let message: String
  /// The offset in bytes, if the exact line and column are not known. Then `mark` is before it.
  public let byte: Int?

  /// The error with these parts.
  public init(_ message: String, at mark: Mark, byte: Int? = nil) {
    self.mark = mark
    self.message = message
    self.byte = byte
  }
}
