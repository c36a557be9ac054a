import Linux
import Testing

@testable import Daemon

@Suite("Kept bytes")
struct KeptBytesTests {
  private static let limit = 1000
  private let memory: SharedMemory

  init() throws { memory = try SharedMemory(name: "test", size: KeptBytes.size(for: Self.limit)) }

  /// What another daemon would see.
  private func kept(_ layout: UInt64 = 7) -> KeptBytes {
    KeptBytes(memory, 0..<memory.bytes.count, layout: layout)
  }

  private func read() -> [UInt8]? {
    var kept = kept()
    return kept.read()
  }

  private func write(_ bytes: [UInt8]) {
    var kept = kept()
    _ = kept.read()
    kept.write(bytes)
  }

  private func bytes(_ number: Int, length: Int = 10) -> [UInt8] {
    [UInt8](repeating: UInt8(number), count: length)
  }

  @Test("new memory has none, and then those that were written last, however many")
  func last() {
    #expect(read() == nil)
    for (number, length) in [0, 1, 7, 8, Self.limit, 0, 100].enumerated() {
      write(bytes(number, length: length))
      #expect(read() == bytes(number, length: length))
    }
  }

  @Test("bytes of another layout are not read")
  func otherLayout() {
    write(bytes(1))
    var other = kept(8)
    #expect(other.read() == nil)
    #expect(read() == bytes(1))
  }

  @Test("after a write that stopped at any byte, those before are read")
  func torn() {
    write(bytes(1))
    write(bytes(2))
    let before = Array(memory.bytes)
    write(bytes(3))
    let after = Array(memory.bytes)
    let written = before.indices.filter { before[$0] != after[$0] }
    #expect(written.count > 10)
    memory.bytes.copyBytes(from: before)
    for index in written {
      #expect(read() == bytes(2))
      memory.bytes[index] = after[index]
    }
    #expect(read() == bytes(3))
  }

  @Test(
    "bytes whose layout, generation or count was changed are not read",
    arguments: [
      (0, 1), (8, .max), (16, UInt64(limit + 64)), (16, .max), (16, 1 << 63),
    ] as [(Int, UInt64)])
  func impossible(_ field: Int, _ value: UInt64) {
    write(bytes(1))
    for copy in [0, memory.bytes.count / 2] {
      memory.bytes.storeBytes(of: value, toByteOffset: copy + field, as: UInt64.self)
    }
    #expect(read() == nil)
  }

  @Test("writes go on after the greatest generation", arguments: [.max, .max - 1, 0] as [UInt64])
  func generations(_ generation: UInt64) {
    write(bytes(1))
    // The first write is to the second copy. Its checksum becomes right again.
    let copy = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[(memory.bytes.count / 2)...])
    copy.storeBytes(of: generation, toByteOffset: 8, as: UInt64.self)
    let sum = Checksum.of(
      UnsafeRawBufferPointer(rebasing: copy[32..<42]),
      after: Checksum.of(UnsafeRawBufferPointer(rebasing: copy[..<24])))
    copy.storeBytes(of: sum, toByteOffset: 24, as: UInt64.self)
    #expect(read() == bytes(1))
    for number in 2...4 {
      write(bytes(number))
      #expect(read() == bytes(number))
    }
  }
}
