import Glibc
import Linux
import Terminal

/// A file that grows by whole pieces: if a piece cannot be written, a file of its own keeps nothing
/// of it. Standard output may keep a part.
final class AppendedFile {
  private let descriptor: FileDescriptor
  private let name: String
  private let isOwn: Bool
  private var size = 0

  /// A file that has just been opened and is empty.
  ///
  /// - Parameter isOwn: whether a piece that does not fit may be cut off. Others write to standard
  ///   output too.
  init(_ descriptor: consuming FileDescriptor, _ name: String, isOwn: Bool) {
    self.descriptor = descriptor
    self.name = name
    self.isOwn = isOwn
  }

  /// Creates a file that only its owner can read; there must be none at `path`.
  convenience init(creating path: String) throws(SystemError) {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.opening(path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    } catch {
      throw SystemError("create", path, code: error.code)
    }
    self.init(descriptor, path, isOwn: true)
  }

  /// Standard output, unless it is closed.
  static func standardOutput() throws(SystemError) -> AppendedFile {
    let number = try retrying("write", "standard output") {
      fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    }
    return AppendedFile(FileDescriptor(owning: number), "standard output", isOwn: false)
  }

  /// Adds all of `text`. If that fails, a file of its own keeps nothing of it.
  func append(_ text: String) throws(SystemError) {
    let bytes = Array(text.utf8)
    do throws(SystemError) {
      try writeAll(bytes, to: descriptor.number, name)
      size += bytes.count
    } catch {
      if isOwn { _ = ftruncate(descriptor.number, off_t(size)) }
      throw error
    }
  }
}
