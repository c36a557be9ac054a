internal import Glibc
internal import SystemCalls

/// A file that recordings are read from, perhaps by several readers, each at its own place.
final class OpenFile {
  /// The file, as the user named it.
  let name: String

  /// How many bytes it has; `nil` where it is a pipe or the like, and can be read only once.
  let size: Int?

  private let descriptor: FileDescriptor

  /// Opens the file at `path`; `-` is standard input.
  init(_ path: String) throws(RecordingError) {
    name = path == "-" ? "<stdin>" : path
    do throws(SystemError) {
      descriptor =
        path == "-" ? try FileDescriptor.standardInput() : try FileDescriptor.opening(path)
    } catch {
      throw RecordingError(error.reason, file: name)
    }
    // Whoever redirects standard input may have read the first part of it on purpose.
    size = path == "-" ? nil : OpenFile.size(of: descriptor.number)
  }

  private static func size(of descriptor: Int32) -> Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// Reads what stands at `offset`, or simply what comes next where there are no offsets.
  ///
  /// - Returns: how many bytes; 0 at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try size == nil ? descriptor.read(into: buffer) : descriptor.read(at: offset, into: buffer)
  }
}
