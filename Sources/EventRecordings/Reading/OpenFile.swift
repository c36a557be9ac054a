import Glibc
import SystemCalls

/// An open file that several readers may read, each at its own offset.
final class OpenFile {
  /// The file, as the user named it.
  let name: String

  /// Its size in bytes; `nil` for a pipe or the like, which can be read only once.
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
    // Standard input is read from its present position: a script may have read a part on purpose.
    size = path == "-" ? nil : OpenFile.size(of: descriptor.number)
  }

  private static func size(of descriptor: Int32) -> Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// Reads the bytes at `offset`, or the next bytes if it is a pipe.
  ///
  /// - Returns: how many bytes were read; 0 at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try size == nil ? descriptor.read(into: buffer) : descriptor.read(at: offset, into: buffer)
  }
}
