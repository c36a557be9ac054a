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
    let count = bytes.count + arrived.count
    // An array would double its memory each time, and end with twice what the longest message needs.
    if count > bytes.capacity {
      bytes.reserveCapacity(max(count, min(2 * bytes.count, limit)))
    }
    bytes.append(contentsOf: arrived)
  }

  /// How many bytes of memory it holds.
  public var capacity: Int { bytes.capacity }

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
    // The rest moves to memory of its own size: a long message must not hold its memory for the life of
    // the connection.
    bytes = Array(bytes[(end + 1)...])
    searched = 0
    return message
  }
}
