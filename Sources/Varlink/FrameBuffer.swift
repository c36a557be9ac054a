/// Collects bytes as they arrive and cuts them into messages, each ended by NUL.
public struct FrameBuffer: Sendable {
  /// The longest message, without its NUL, that is taken.
  public let limit: Int
  private var bytes: [UInt8] = []
  private var searched = 0

  /// A message longer than the limit.
  public struct TooLong: Error, Hashable {}

  /// An empty buffer for messages of up to `limit` bytes.
  public init(limit: Int) { self.limit = limit }

  /// Adds what arrived.
  public mutating func append(_ arrived: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: arrived)
  }

  /// Whether a whole message is there.
  public var hasMessage: Bool { bytes[searched...].contains(0) }

  /// Takes out the next whole message.
  ///
  /// - Returns: the message without its NUL, or `nil` where none is whole yet.
  /// - Throws: where the message that has begun is too long, whether it is whole or not.
  public mutating func next() throws(TooLong) -> [UInt8]? {
    guard let end = bytes[searched...].firstIndex(of: 0) else {
      searched = bytes.count
      if bytes.count > limit { throw TooLong() }
      return nil
    }
    guard end <= limit else { throw TooLong() }
    let message = Array(bytes[..<end])
    bytes.removeSubrange(...end)
    searched = 0
    // One long message must not hold its memory for the life of the connection.
    if bytes.isEmpty { bytes = [] }
    return message
  }
}
