public import Glibc

/// An open file, socket or device; closed when the value is destroyed. Methods throw the error of
/// the C function that corresponds to them.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The descriptor's number, for calls that do not close the descriptor.
  public let number: Int32

  /// Takes over an open descriptor.
  public init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// Opens a file, by default for reading. The corresponding C function is `open`.
  public static func opening(
    _ path: String, flags: Int32 = O_RDONLY, mode: mode_t = 0o600
  ) throws(SystemError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("open", path) { open(path, flags | O_CLOEXEC, mode) })
  }

  /// Reads the next bytes; returns how many, 0 at the end. The corresponding C function is `read`.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try retrying("read") { Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  /// The size of a regular file in bytes; `nil` for other files, such as pipes, on which a reader
  /// may have to wait for ever.
  public var sizeOfRegularFile: Int? {
    var status = stat()
    guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// A duplicate of the descriptor of standard input. Throws if that is closed.
  public static func standardInput() throws(SystemError) -> FileDescriptor {
    try duplicating(STDIN_FILENO, named: "-")
  }

  /// A duplicate of an open descriptor. The corresponding C function is `fcntl`.
  static func duplicating(_ number: Int32, named name: String) throws(SystemError) -> FileDescriptor
  {
    FileDescriptor(owning: try retrying("read", name) { fcntl(number, F_DUPFD_CLOEXEC, 3) })
  }
}

/// The result of ``readSome(from:upTo:_:)``.
public enum ReadResult: Equatable, Sendable {
  /// At least one byte.
  case bytes
  /// Nothing yet; there may be more later.
  case wouldBlock
  /// The end: there will never be more.
  case end
}

/// Reads the available bytes, at most `count`, and passes them to `body`. The corresponding C
/// function is `read`, whose errors this throws, except `EINTR` and `EAGAIN`.
@discardableResult
public func readSome(
  from descriptor: Int32, upTo count: Int, _ body: (UnsafeRawBufferPointer) -> Void
) throws(SystemError) -> ReadResult {
  let result = withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
    Result { () throws(SystemError) in
      let count = try retrying("read") { read(descriptor, buffer.baseAddress, buffer.count) }
      if count > 0 { body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      return count
    }
  }
  switch result {
  case .success(let count): return count > 0 ? .bytes : .end
  case .failure(let error) where error.code == EAGAIN: return .wouldBlock
  case .failure(let error): throw error
  }
}

/// Sends the beginning of `rest` without waiting, and removes what was sent.
///
/// - Returns: whether everything was sent; if not, the socket has no room for the rest now.
/// - Throws: the error of `send`, except `EINTR` and `EAGAIN`.
public func sendSome(
  _ rest: inout ArraySlice<UInt8>, to socket: Int32
) throws(SystemError) -> Bool {
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { bytes in
      send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      return false
    } else if errno != EINTR {
      throw .last("send")
    }
  }
  return true
}

/// A whole file as bytes.
///
/// - Parameters:
///   - limit: the largest size, in bytes.
///   - mayWait: whether to read pipes and devices too. Reading them may never end.
/// - Returns: the bytes, or `nil` if there are more than `limit`.
/// - Throws: if the file cannot be opened or read; `ENOTSUP` unless it is regular or `mayWait`.
public func contents(
  of path: String, limit: Int, mayWait: Bool = true
) throws(SystemError) -> [UInt8]? {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  let file = try FileDescriptor.opening(path, flags: mayWait ? O_RDONLY : O_RDONLY | O_NONBLOCK)
  guard mayWait || file.sizeOfRegularFile != nil else {
    throw SystemError("read", path, code: ENOTSUP)
  }
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

/// The names of a folder's entries except `.` and `..`, in no particular order. The corresponding C
/// function is `readdir`. Throws if the folder cannot be opened.
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
