import Glibc

/// Writes all of `bytes`, and waits for room even if `descriptor` is non-blocking. The
/// corresponding C function is `write`, whose errors this throws, except `EINTR` and `EAGAIN`.
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

/// Writes all elements of `items`, like ``writeAll(_:to:_:)`` for bytes.
public func writeAll<Item: BitwiseCopyable>(
  _ items: [Item], to descriptor: Int32, _ name: String
) throws(SystemError) {
  let result = items.withUnsafeBytes { bytes in
    Result { () throws(SystemError) in try writeAll(bytes, to: descriptor, name) }
  }
  try result.get()
}

/// The value of an environment variable; `nil` where it is unset or empty.
public func environment(_ name: String) -> String? {
  guard let value = getenv(name) else { return nil }
  return value.pointee == 0 ? nil : String(cString: value)
}
