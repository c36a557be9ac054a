import Glibc
import SystemCalls

/// An open file that several readers may read, each at its own offset.
final class OpenFile {
  /// The file, as the user named it.
  let name: String

  /// Its size in bytes; `nil` for a pipe or the like, which can be read only once.
  let size: Int?

  private let descriptor: FileDescriptor

  /// A temporary file without a name in `folder`, for what is kept of the file called `name`.
  init(keeping name: String, in folder: String) throws(SystemError) {
    self.name = name
    size = 0
    descriptor = try FileDescriptor.unnamed(in: folder)
  }

  /// Opens the file at `path`; `-` is standard input.
  init(_ path: FilePath) throws(RecordingError) {
    let isStandardInput = path.text == "-"
    name = isStandardInput ? "<stdin>" : path.text
    do throws(SystemError) {
      descriptor =
        try isStandardInput ? FileDescriptor.standardInput() : FileDescriptor.opening(path)
    } catch {
      throw RecordingError(error.reason, file: name)
    }
    // Standard input is read from its present position: a script may have read a part on purpose.
    size = isStandardInput ? nil : descriptor.sizeOfRegularFile
  }

  /// Moves all of `items` into the file, behind what was written before.
  func append<Item: BitwiseCopyable>(_ items: inout [Item]) throws(SystemError) {
    try writeAll(items, to: descriptor.number, name)
    items.removeAll(keepingCapacity: true)
  }

  /// Reads the bytes at `offset`, or the next bytes of a pipe. Returns how many; 0 at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try size == nil ? descriptor.read(into: buffer) : descriptor.read(at: offset, into: buffer)
  }
}
