import Glibc
import SystemCalls

/// A file that grows by whole pieces: if a piece does not fit, none of it is kept.
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

  /// Creates a file without a name in `TMPDIR`, by default `/tmp`.
  static func temporary() throws(SystemError) -> AppendedFile {
    let folder = environment("TMPDIR") ?? "/tmp"
    return AppendedFile(try FileDescriptor.unnamed(in: folder), folder, isOwn: true)
  }

  /// Adds all of `text` or, if it cannot be written, nothing of it.
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

  /// Passes the whole file to `body`, in parts of at most 64 KiB. Each ends at the end of an item of
  /// a list of libinput's format, unless a single item is longer.
  func forEachPart(_ body: (String) throws(SystemError) -> Void) throws(SystemError) {
    var offset = 0
    while offset < size {
      var part = try read(at: offset)[...]
      if offset + part.count < size { part = part[..<(lastItem(of: part) ?? part.endIndex)] }
      try body(String(decoding: part, as: UTF8.self))
      offset += part.count
    }
  }

  private func read(at offset: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65536)
    let number = descriptor.number
    let count = try retrying("read", name) {
      bytes.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, off_t(offset)) }
    }
    return Array(bytes[..<count])
  }

  /// The start of the last item, if it is not the start of `part`. All other lines of an item are
  /// indented further.
  private func lastItem(of part: ArraySlice<UInt8>) -> Int? {
    let mark = Array("\n  - ".utf8)
    return part.indices.dropLast(mark.count).reversed().first {
      part[$0..<$0 + mark.count].elementsEqual(mark)
    }.map { $0 + 1 }
  }
}
