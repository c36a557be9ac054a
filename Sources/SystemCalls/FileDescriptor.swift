public import Glibc

/// An open file, socket or device; closed when the value is destroyed.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The kernel's number, for calls that borrow it.
  public let number: Int32

  /// Takes over an open descriptor.
  public init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// Opens a file, for reading unless `flags` say otherwise. The corresponding C function is `open`.
  ///
  /// - Throws: the error of `open`.
  public static func opening(
    _ path: String, flags: Int32 = O_RDONLY, mode: mode_t = 0o600
  ) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("open", path) { open(path, flags | O_CLOEXEC, mode) })
  }

  /// Creates a file without a name, open for reading and writing, which the kernel deletes when it
  /// is closed. The corresponding C function is `mkstemp`.
  ///
  /// - Throws: if the file cannot be created or unlinked.
  public static func unnamed(in folder: String) throws(SystemError) -> FileDescriptor {
    var template = Array("\(folder)/keymoded-XXXXXX".utf8CString)
    let number = try retrying("create a file in", folder) { mkstemp(&template) }
    let file = FileDescriptor(owning: number)
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    _ = try retrying("remove a file in", folder) { unlink(template) }
    return file
  }

  /// Reads the next bytes. The corresponding C function is `read`.
  ///
  /// - Returns: how many bytes were read; 0 at the end.
  /// - Throws: the error of `read`.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try retrying("read") { Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  /// Reads the bytes at `offset`. The corresponding C function is `pread`.
  ///
  /// - Returns: how many bytes were read; 0 at the end.
  /// - Throws: the error of `pread`.
  public func read(
    at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    try retrying("read") { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// A duplicate of the descriptor of standard input.
  ///
  /// - Throws: if it cannot be duplicated, for example because standard input is closed.
  public static func standardInput() throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("read", "-") { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) })
  }
}

/// The result of `read` or `recv`.
public enum ReadResult: Equatable, Sendable {
  /// This many bytes, at least one.
  case bytes(Int)
  /// Nothing yet; there may be more later.
  case wouldBlock
  /// The end: there will never be more.
  case end
}

/// Reads the available bytes into `buffer`. The corresponding C function is `read`.
///
/// - Throws: the error of `read`, except `EINTR` and `EAGAIN`.
public func readSome(
  from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
) throws(SystemError) -> ReadResult {
  while true {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    if count > 0 { return .bytes(count) }
    if count == 0 { return .end }
    switch errno {
    case EINTR: continue
    case EAGAIN: return .wouldBlock
    default: throw .last("read")
    }
  }
}

/// Reads the available bytes, at most `count`, and passes them to `body`. The corresponding C function
/// is `read`.
///
/// - Throws: the error of `read`, except `EINTR` and `EAGAIN`.
@discardableResult
public func readSome(
  from descriptor: Int32, upTo count: Int, _ body: (UnsafeRawBufferPointer) -> Void
) throws(SystemError) -> ReadResult {
  let result: Result<ReadResult, SystemError> = withUnsafeTemporaryAllocation(
    byteCount: count, alignment: 16
  ) { buffer in
    Result { () throws(SystemError) in
      let result = try readSome(from: descriptor, into: buffer)
      if case .bytes(let count) = result {
        body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
      return result
    }
  }
  return try result.get()
}

/// Writes all of `bytes`, and waits if `descriptor` is non-blocking. The corresponding C function
/// is `write`.
///
/// - Throws: the error of `write`, except `EINTR` and `EAGAIN`.
public func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String
) throws(SystemError) {
  var rest = bytes
  while !rest.isEmpty {
    do {
      let count = try retrying("write", name) { write(descriptor, rest.baseAddress, rest.count) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    } catch {
      guard error.code == EAGAIN else { throw error }
      // Another process that shares the open file may have made it non-blocking. Wait, so that the
      // output is complete.
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&entry, 1, -1)
    }
  }
}

/// A whole file as bytes.
///
/// - Parameter limit: the largest size, in bytes.
/// - Returns: the bytes, or `nil` if there are more than `limit`.
/// - Throws: if the file cannot be opened or read.
public func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8]? {
  let file = try FileDescriptor.opening(path)
  var bytes: [UInt8] = []
  do {
    while bytes.count <= limit {
      let result = try readSome(from: file.number, upTo: 16384) { bytes += $0 }
      guard case .bytes = result else { return bytes }
    }
    return nil
  } catch {
    throw SystemError("read", path, code: error.code)
  }
}

/// The value of an environment variable; `nil` where it is unset or empty.
public func environment(_ name: String) -> String? {
  guard let value = getenv(name) else { return nil }
  return value.pointee == 0 ? nil : String(cString: value)
}

/// The names of a folder's entries except `.` and `..`, in no particular order. The corresponding C
/// function is `readdir`.
///
/// - Throws: if the folder cannot be opened.
public func names(inFolder path: String) throws(SystemError) -> [String] {
  guard let folder = opendir(path) else { throw .last("list", path) }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}
