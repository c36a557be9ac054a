import CLinux
import Glibc
public import Terminal

/// A file in memory (memfd) that outlives this process if another process holds its descriptor too.
///
/// Its size is sealed. The next process that maps it finds what was written, however this process
/// ends.
public final class SharedMemory {
  /// The mapped bytes.
  public let bytes: UnsafeMutableRawBufferPointer
  private let file: FileDescriptor

  /// The descriptor, to pass to another process.
  public var descriptor: Int32 { file.number }

  /// A new file of this size, all zero. Throws if it cannot be created or mapped.
  public convenience init(name: String, size: Int) throws(SystemError) {
    let number = keymoded_sealed_memory(name, Int64(size))
    guard number >= 0 else { throw SystemError("create memory", name, code: -number) }
    try self.init(mapping: FileDescriptor(owning: number), size)
  }

  /// A file that an earlier process created; `nil` if it is not sealed against shrinking, does not
  /// have this `size`, or cannot be mapped.
  public convenience init?(adopting file: consuming FileDescriptor, size: Int) {
    var status = stat()
    guard keymoded_is_sealed(file.number) == 1, fstat(file.number, &status) == 0,
      status.st_size == size
    else { return nil }
    try? self.init(mapping: file, size)
  }

  private init(mapping file: consuming FileDescriptor, _ size: Int) throws(SystemError) {
    let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
    guard let address, address != MAP_FAILED else { throw .last("map memory") }
    bytes = UnsafeMutableRawBufferPointer(start: address, count: size)
    self.file = file
  }

  deinit { munmap(bytes.baseAddress, bytes.count) }
}
