import CLinux
import Glibc
public import Terminal

extension FileDescriptor {
  /// Creates a file in memory, for reading and writing, which lasts while a process has it open.
  /// The corresponding C function is `memfd_create`.
  ///
  /// - Parameter name: what `/proc` calls it.
  public static func inMemory(_ name: String) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("create memory", name) { memfd_create(name, MFD_CLOEXEC) })
  }

  /// Replaces the beginning of the file. In a file in memory, a process that is killed has written
  /// all or nothing of bytes that fit one page (4096): the kernel copies a page at a time, and ends
  /// a process only between two of them. The corresponding C function is `pwrite`.
  public func overwriteBeginning(with bytes: [UInt8]) throws(SystemError) {
    try retrying("write") { bytes.withUnsafeBytes { pwrite(number, $0.baseAddress, $0.count, 0) } }
  }

  /// The whole content of a file that can be read at any position; what could be read of it, if
  /// reading fails.
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
