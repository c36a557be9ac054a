internal import Glibc
internal import SystemCalls

/// Splits what a descriptor yields into lines, or into records of one size, in constant memory.
struct InputReader: ~Copyable {
  /// The longest line that any of the recording tools could write is far below this.
  static let longestLine = 65536

  private let descriptor: FileDescriptor
  private var buffer = [UInt8](repeating: 0, count: longestLine)
  private var start = 0
  private var end = 0
  private var isAtEnd = false

  /// The number of the line or record last returned, from 1.
  private(set) var number = 0

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Hands the next line, without its end, to `body`.
  ///
  /// - Parameter body: takes the bytes of the line, and whether a line end followed it.
  /// - Returns: what `body` returned, or `nil` at the end.
  mutating func nextLine<R>(
    _ body: (UnsafeRawBufferPointer, _ isTerminated: Bool) -> R
  ) throws(InputReaderError) -> R? {
    guard let (line, isTerminated) = try findLine() else { return nil }
    number += 1
    return buffer.withUnsafeBytes { bytes in
      var text = UnsafeRawBufferPointer(rebasing: bytes[line])
      if text.last == UInt8(ascii: "\r") {
        text = UnsafeRawBufferPointer(rebasing: text.dropLast())
      }
      return body(text, isTerminated)
    }
  }

  /// Hands the next `size` bytes to `body`; fewer, where the end comes before.
  ///
  /// - Returns: what `body` returned, or `nil` at the end.
  mutating func nextRecord<R>(
    of size: Int, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(InputReaderError) -> R? {
    while end - start < size, !isAtEnd { try fill() }
    let count = min(size, end - start)
    guard count > 0 else { return nil }
    number += 1
    defer { start += count }
    return buffer.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
    }
  }

  /// Hands the first bytes of what is still to come to `body`, without taking them: at least a few
  /// thousand, where there are so many.
  mutating func peek<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(InputReaderError) -> R {
    while end - start < 4096, !isAtEnd { try fill() }
    return buffer.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }
  }

  /// Goes back to the start.
  mutating func rewind() throws(SystemError) {
    let descriptor = descriptor.number
    try retrying("rewind") { lseek(descriptor, 0, SEEK_SET) }
    (start, end, number, isAtEnd) = (0, 0, 0, false)
  }

  private mutating func findLine() throws(InputReaderError) -> (Range<Int>, isTerminated: Bool)? {
    var searched = start
    while true {
      if let newline = indexOfNewline(from: searched) {
        defer { start = newline + 1 }
        return (start..<newline, true)
      }
      if isAtEnd {
        guard start < end else { return nil }
        defer { start = end }
        return (start..<end, false)
      }
      searched = end - start
      try fill()
    }
  }

  private func indexOfNewline(from index: Int) -> Int? {
    buffer.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, index < end else { return nil }
      guard let found = memchr(base + index, Int32(UInt8(ascii: "\n")), end - index) else {
        return nil
      }
      return UnsafeRawPointer(found) - base
    }
  }

  /// Moves what is left to the front of the buffer and reads more behind it.
  private mutating func fill() throws(InputReaderError) {
    if start > 0 {
      let rest = end - start
      buffer.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        memmove(base, base + start, rest)
      }
      start = 0
      end = rest
    }
    guard end < buffer.count else { throw .tooLong(line: number + 1) }
    let number = descriptor.number
    let space = end
    let result: Result<ReadResult, SystemError> = buffer.withUnsafeMutableBytes { bytes in
      Result { () throws(SystemError) in
        try readSome(from: number, into: UnsafeMutableRawBufferPointer(rebasing: bytes[space...]))
      }
    }
    switch result {
    case .success(.bytes(let count)): end += count
    case .success(.end): isAtEnd = true
    case .success(.wouldBlock): throw .failed(SystemError("read", code: EAGAIN))
    case .failure(let error): throw .failed(error)
    }
  }
}

enum InputReaderError: Error {
  case tooLong(line: Int)
  case failed(SystemError)
}
