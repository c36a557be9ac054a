import Linux
import Terminal

/// Bytes in memory that outlives the daemon.
///
/// There are two copies with checksums; each write overwrites the older one. If a daemon is killed
/// during a write, the other copy is intact.
struct KeptBytes {
  /// The beginning of a copy; the bytes follow it.
  private struct Head: BitwiseCopyable {
    var layout = KeptBytes.layout
    var generation: UInt64
    var count: UInt64
    /// Of the fields before it, and of the bytes.
    var checksum: UInt64 = 0
  }

  /// The version of what is kept. Memory of another version holds nothing.
  static let layout: UInt64 = 0x6b65_796d_6f64_0003

  private let memory: SharedMemory
  private let copies: [UnsafeMutableRawBufferPointer]
  private var generation: UInt64 = 0

  /// The size of the memory for at most `count` bytes: a whole number of cache lines for each copy.
  static func size(for count: Int) -> Int { 2 * ((MemoryLayout<Head>.size + count + 63) & ~63) }

  /// The bytes that are kept in this part of a memory, if there are any. It has to be as large as
  /// ``size(for:)`` says.
  init(_ memory: SharedMemory, _ part: Range<Int>) {
    self.memory = memory
    let middle = part.lowerBound + part.count / 2
    copies = [part.lowerBound..<middle, middle..<part.upperBound].map {
      UnsafeMutableRawBufferPointer(rebasing: memory.bytes[$0])
    }
  }

  /// The bytes that were written last; `nil` if there are none.
  mutating func read() -> [UInt8]? {
    let intact = copies.compactMap { copy in Self.read(copy).map { ($0, copy) } }
    guard let (head, copy) = intact.max(by: { $0.0.generation < $1.0.generation }) else {
      return nil
    }
    generation = head.generation
    return Array(Self.content(of: copy, head))
  }

  /// Keeps these bytes instead of the ones before.
  mutating func write(_ bytes: [UInt8]) {
    generation += 1
    let copy = copies[Int(generation % 2)]
    var head = Head(generation: generation, count: UInt64(bytes.count))
    UnsafeMutableRawBufferPointer(rebasing: copy[MemoryLayout<Head>.size...]).copyBytes(from: bytes)
    head.checksum = Self.checksum(head, Self.content(of: copy, head))
    copy.storeBytes(of: head, as: Head.self)
  }

  private static func read(_ copy: UnsafeMutableRawBufferPointer) -> Head? {
    let head = copy.load(as: Head.self)
    // Of the greatest generation, none is the next one.
    guard head.layout == layout, head.generation < .max,
      head.count <= UInt64(copy.count - MemoryLayout<Head>.size),
      head.checksum == checksum(head, content(of: copy, head))
    else { return nil }
    return head
  }

  private static func content(
    of copy: UnsafeMutableRawBufferPointer, _ head: Head
  ) -> Slice<UnsafeMutableRawBufferPointer> {
    copy[MemoryLayout<Head>.size...].prefix(Int(head.count))
  }

  private static func checksum(
    _ head: Head, _ content: Slice<UnsafeMutableRawBufferPointer>
  ) -> UInt64 {
    let ofHead = withUnsafeBytes(of: head) { Checksum.of($0.dropLast(8)) }
    return Checksum.of(content, after: ofHead)
  }
}

/// FNV-1a: it detects interrupted writes, not forgery.
enum Checksum {
  /// The checksum of these bytes, and of others before them.
  static func of(
    _ bytes: some Sequence<UInt8>, after sum: UInt64 = 0xcbf2_9ce4_8422_2325
  ) -> UInt64 {
    bytes.reduce(sum) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
