/// Collects bytes as they arrive and cuts them into messages, each ended by NUL.
public struct FrameBuffer: Sendable {
  /// The maximum length of a message in bytes, without its NUL.
  public let limit: Int
  private var bytes: [UInt8] = []
  /// How many bytes at the beginning of the buffer are known not to be NUL.
  private var searchedCount = 0

  /// A message longer than the limit.
  public struct TooLong: Error, Hashable {}

  /// An empty buffer for messages of up to `limit` bytes.
  public init(limit: Int) { self.limit = limit }

  /// Adds received bytes.
  public mutating func append(_ arrived: UnsafeRawBufferPointer) {
    let count = bytes.count + arrived.count
    // By itself the array would double its capacity, up to twice what the longest message needs.
    if count > bytes.capacity {
      bytes.reserveCapacity(max(count, min(2 * bytes.count, limit)))
    }
    bytes.append(contentsOf: arrived)
  }

  /// The capacity of the buffer in bytes.
  public var capacity: Int { bytes.capacity }

  /// Whether a whole message has arrived.
  public var hasMessage: Bool { bytes[searchedCount...].contains(0) }

  /// Removes and returns the next message, without its NUL; `nil` if it is not whole yet.
  ///
  /// - Throws: ``TooLong`` if the next message exceeds the limit, whether it is whole or not.
  public mutating func next() throws(TooLong) -> [UInt8]? {
    guard let end = bytes[searchedCount...].firstIndex(of: 0) else {
      searchedCount = bytes.count
      if bytes.count > limit { throw TooLong() }
      return nil
    }
    guard end <= limit else { throw TooLong() }
    let message = Array(bytes[..<end])
    // The rest is copied to an array of its own size: otherwise the connection would hold the
    // memory of a long message for all its life.
    bytes = Array(bytes[(end + 1)...])
    searchedCount = 0
    return message
  }
}
