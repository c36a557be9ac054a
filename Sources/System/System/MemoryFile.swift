import CLinux
import Glibc
import Synchronization

extension FileDescriptor {
  /// Creates a file in memory, for reading and writing, which lasts while a process has it open.
  /// The corresponding C function is `memfd_create`.
  ///
  /// - Parameter name: the name of the file in `/proc`.
  public static func inMemory(_ name: String) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("create memory", name) { memfd_create(name, MFD_CLOEXEC) })
  }

  /// The whole content of a file that supports `pread`. If reading fails, this is the part that was
  /// read before.
  public var content: [UInt8] {
    var content: [UInt8] = []
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      while true {
        let count = pread(number, buffer.baseAddress, buffer.count, off_t(content.count))
        guard count > 0 else { return content }
        content += buffer[..<count]
      }
    }
  }
}

/// A mapped file in memory: two slots for bytes, and the number of the current slot.
///
/// A write fills the other slot, and then changes the number. So a process that is killed leaves
/// either the old bytes or the new ones. Writing takes no system call.
public final class MemorySlots {
  /// The size of a slot, in bytes: two slots and the number fit into 32 KiB. Only the pages that
  /// are written take memory.
  public static let slotSize = 16384 - MemoryLayout<Int>.size

  private let memory: UnsafeMutableRawBufferPointer
  private static let size = 2 * slotSize + MemoryLayout<Int>.size

  /// Maps a file that another process has written, or a new file, which is all zero. The descriptor
  /// need not stay open.
  public init(_ file: borrowing FileDescriptor) throws(SystemError) {
    let number = file.number
    try retrying("create memory") { ftruncate(number, off_t(Self.size)) }
    let address = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
    guard let address, address != MAP_FAILED else { throw .last("map memory") }
    memory = UnsafeMutableRawBufferPointer(start: address, count: Self.size)
  }

  deinit { munmap(memory.baseAddress, memory.count) }

  /// The number of the current slot. The mask makes any number in the memory 0 or 1.
  private var slot: Int {
    get { memory.load(fromByteOffset: 2 * Self.slotSize, as: Int.self) & 1 }
    set { memory.storeBytes(of: newValue, toByteOffset: 2 * Self.slotSize, as: Int.self) }
  }

  /// All bytes of the current slot.
  public var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[slot * Self.slotSize..<(slot + 1) * Self.slotSize])
  }

  /// Writes `bytes`, and `rest` after them, into the other slot, and makes that slot the current
  /// one. Does nothing if a slot is too small.
  public func replace(with bytes: [UInt8], _ rest: [UInt8] = []) {
    guard bytes.count + rest.count <= Self.slotSize else { return }
    let other = 1 - slot
    let start = other * Self.slotSize
    let end = start + bytes.count
    memory[start..<end].copyBytes(from: bytes)
    memory[end..<end + rest.count].copyBytes(from: rest)
    // The bytes must be in memory before the number of the current slot changes.
    atomicMemoryFence(ordering: .releasing)
    slot = other
  }
}
