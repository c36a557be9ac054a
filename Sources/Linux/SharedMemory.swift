import CLinux
import Glibc
public import Terminal

/// A file in memory (memfd) that outlives this process if another process holds its descriptor too.
///
/// The next process that maps it finds what was written, however this process ends.
public final class SharedMemory {
  /// The mapped bytes.
  public let bytes: UnsafeMutableRawBufferPointer
  private let file: FileDescriptor

  /// The descriptor, to pass to another process.
  public var descriptor: Int32 { file.number }

  /// A new file of this size, all zero. Throws if it cannot be created or mapped.
  public convenience init(name: String, size: Int) throws(SystemError) {
    let file = try FileDescriptor.inMemory(name)
    let number = file.number
    try retrying("create memory", name) { ftruncate(number, size) }
    try self.init(mapping: file, size)
  }

  /// A file that an earlier process created; `nil` if it does not have this `size`, or cannot
  /// be mapped.
  public convenience init?(adopting file: consuming FileDescriptor, size: Int) {
    var status = stat()
    guard fstat(file.number, &status) == 0, status.st_size == size else { return nil }
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

extension FileDescriptor {
  /// Creates a file in memory, for reading and writing, which lasts while a process has it open.
  /// The corresponding C function is `memfd_create`.
  ///
  /// - Parameter name: what `/proc` calls it.
  static func inMemory(_ name: String) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("create memory", name) { memfd_create(name, MFD_CLOEXEC) })
  }
}
