import Linux
import Terminal

/// Bytes in memory that outlives the daemon.
///
/// There are two copies with checksums; each write overwrites the older one. If a daemon is killed
/// during a write, the other copy is intact.
struct KeptBytes {
  /// The beginning of a copy; the bytes follow it.
  private struct Head: BitwiseCopyable {
    let layout: UInt64
    var generation: UInt64
    var count: UInt64
    /// Of the fields before it, and of the bytes.
    var checksum: UInt64 = 0
  }

  private let layout: UInt64
  private let memory: SharedMemory
  private let copies: [UnsafeMutableRawBufferPointer]
  /// Which copy was written last.
  private var last = 0
  /// The generation of that copy.
  private var generation: UInt64 = 0

  /// The size of the memory for at most `count` bytes: a whole number of cache lines for each copy.
  static func size(for count: Int) -> Int { 2 * ((MemoryLayout<Head>.size + count + 63) & ~63) }

  /// The bytes that are kept in this part of a memory, if there are any. The part must have the
  /// size ``size(for:)``.
  ///
  /// - Parameter layout: the version of these bytes. Bytes of a different version are ignored.
  init(_ memory: SharedMemory, _ part: Range<Int>, layout: UInt64) {
    (self.memory, self.layout) = (memory, layout)
    let middle = part.lowerBound + part.count / 2
    copies = [part.lowerBound..<middle, middle..<part.upperBound].map {
      UnsafeMutableRawBufferPointer(rebasing: memory.bytes[$0])
    }
  }

  /// The bytes that were written last; `nil` if there are none.
  mutating func read() -> [UInt8]? {
    let head: Head
    // A write has the generation after that of the other copy; 0 comes after the greatest one.
    switch (read(copies[0]), read(copies[1])) {
    case (let first?, let second?) where second.generation != first.generation &+ 1:
      (last, head) = (0, first)
    case (_, let second?): (last, head) = (1, second)
    case (let first?, nil): (last, head) = (0, first)
    case (nil, nil): return nil
    }
    generation = head.generation
    return Array(Self.content(of: copies[last], head))
  }

  /// Keeps these bytes instead of the ones before.
  mutating func write(_ bytes: [UInt8]) {
    generation &+= 1
    last = 1 - last
    let copy = copies[last]
    var head = Head(layout: layout, generation: generation, count: UInt64(bytes.count))
    UnsafeMutableRawBufferPointer(rebasing: copy[MemoryLayout<Head>.size...]).copyBytes(from: bytes)
    head.checksum = Self.checksum(head, Self.content(of: copy, head))
    copy.storeBytes(of: head, as: Head.self)
  }

  private func read(_ copy: UnsafeMutableRawBufferPointer) -> Head? {
    let head = copy.load(as: Head.self)
    guard head.layout == layout, head.count <= UInt64(copy.count - MemoryLayout<Head>.size),
      head.checksum == Self.checksum(head, Self.content(of: copy, head))
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
    let ofHead = withUnsafeBytes(of: head) {
      Checksum.of(UnsafeRawBufferPointer(rebasing: $0.dropLast(8)))
    }
    return Checksum.of(UnsafeRawBufferPointer(rebasing: content), after: ofHead)
  }
}

/// FNV-1a over words of eight bytes, which is quicker than over bytes, and over the bytes of an
/// incomplete one. It detects interrupted writes, not forgery.
enum Checksum {
  private static let prime: UInt64 = 0x100_0000_01b3

  /// The checksum of these bytes after those with `sum`.
  static func of(
    _ bytes: UnsafeRawBufferPointer, after sum: UInt64 = 0xcbf2_9ce4_8422_2325
  ) -> UInt64 {
    var sum = sum
    let end = bytes.count & ~7
    for offset in stride(from: 0, to: end, by: 8) {
      sum = (sum ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* prime
      // A difference in the highest bits must reach the others.
      sum ^= sum >> 32
    }
    return bytes[end...].reduce(sum) { ($0 ^ UInt64($1)) &* prime }
  }
}
