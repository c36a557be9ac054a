internal import CLinux
import Glibc

/// A file in memory that outlives the process, where somebody else holds its descriptor too.
///
/// Its size is sealed. What is written is there for whoever maps it next, however this process ends.
public final class SharedMemory {
  /// The bytes.
  public let bytes: UnsafeMutableRawBufferPointer
  private let file: FileDescriptor

  /// The descriptor, to be handed on.
  public var descriptor: Int32 { file.number }

  /// A new file of this size, all zero.
  public convenience init(name: String, size: Int) throws(SystemError) {
    let number = keymoded_sealed_memory(name, Int64(size))
    guard number >= 0 else { throw SystemError("create memory", name, code: -number) }
    try self.init(mapping: FileDescriptor(owning: number), size)
  }

  /// A file that a process before this one made.
  ///
  /// - Returns: `nil` where it is none that could be safely read, or of another size.
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
