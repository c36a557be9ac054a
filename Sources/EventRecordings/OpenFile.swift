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

  private init(_ descriptor: consuming FileDescriptor, name: String) {
    self.name = name
    size = OpenFile.size(of: descriptor.number)
    self.descriptor = descriptor
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
    let number = descriptor.number
    return try retrying("read", name) {
      size == nil
        ? Glibc.read(number, buffer.baseAddress, buffer.count)
        : pread(number, buffer.baseAddress, buffer.count, off_t(offset))
    }
  }

  /// Copies what `input` still has into a file without a name, so that it can be read more than
  /// once. What was recorded is nobody else's business, and the file is gone when this process is.
  func copied(from input: inout InputReader) throws(RecordingError) -> OpenFile {
    let folder = environment("TMPDIR") ?? "/tmp"
    do throws(SystemError) {
      let copy = try FileDescriptor.unnamed(in: folder)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 8)
      defer { buffer.deallocate() }
      while case let count = try taken(from: &input, into: buffer), count > 0 {
        try writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: copy.number, folder)
      }
      return OpenFile(copy, name: name)
    } catch {
      throw RecordingError("cannot be kept in \(folder): \(error.reason)", file: name)
    }
  }

  private func taken(
    from input: inout InputReader, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    do throws(InputReaderError) {
      return try input.take(into: buffer)
    } catch {
      switch error {
      case .failed(let error): throw error
      case .tooLong: return 0  // no lines are looked for
      }
    }
  }
}
