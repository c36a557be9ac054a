internal import Glibc
internal import KeyboardModes
internal import SystemCalls

/// Splits what a file yields into lines, or into records of one size, in constant memory.
struct InputReader: ~Copyable {
  /// The longest line that any of the recording tools could write is far below this.
  static let longestLine = 65536

  /// How many bytes are read at a time. More would not stay in the cache until they are used.
  private static let capacity = 2 * longestLine

  private let file: OpenFile
  private let buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private var isAtEnd = false

  /// How many bytes of the file are in the buffer, or were.
  private var offset = 0

  /// The number of the line or record last returned, from 1.
  private(set) var number = 0

  /// How many bytes were returned.
  var bytesTaken: Int { offset - (end - start) }

  init(_ file: OpenFile) {
    self.file = file
    let size = Self.capacity + RegularText.margin
    buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    buffer[Self.capacity..<size].withMemoryRebound(to: UInt8.self) { $0.initialize(repeating: 0) }
  }

  deinit { buffer.deallocate() }

  /// The next line, without its end, or `nil` at the end.
  ///
  /// - Returns: the bytes, which are there until the next call of any method, and whether a line end
  ///   followed them.
  mutating func nextLine() throws(InputReaderError) -> (UnsafeRawBufferPointer, isTerminated: Bool)?
  {
    if number == 0 { try skipMark() }
    guard let (line, isTerminated) = try findLine() else { return nil }
    number += 1
    var text = line
    // Some shells end a line with more than one of them.
    while let last = text.last, buffer[last] == UInt8(ascii: "\r") { text = text.dropLast() }
    return (UnsafeRawBufferPointer(rebasing: buffer[text]), isTerminated)
  }

  /// Passes over the rest of a line that is too long.
  mutating func skipLine() throws(InputReaderError) {
    number += 1
    while true {
      if let newline = indexOfNewline(from: start, to: end) {
        start = newline + 1
        return
      }
      start = end
      if isAtEnd { return }
      try fill()
    }
  }

  /// What `read` makes of the lines or records behind the first that are in memory already, and passes
  /// over what it has read of them; `nil` where no key event comes of them.
  mutating func takeKeys(
    _ read: (RegularText, UnsafeMutableBufferPointer<KeyEvent>) -> RunLength
  ) -> [KeyEvent]? {
    guard number > 0, start < end, let base = buffer.baseAddress else { return nil }
    var length = RunLength()
    let events = [KeyEvent](unsafeUninitializedCapacity: KeyRun.capacity) { events, count in
      length = read(RegularText(start: base + start, end: base + end), events)
      count = length.events
    }
    start += length.bytes
    number += length.parts
    return events.isEmpty ? nil : events
  }

  /// The next `size` bytes, or fewer where the end comes before; `nil` at the end. They are there
  /// until the next call of any method.
  mutating func nextRecord(of size: Int) throws(InputReaderError) -> UnsafeRawBufferPointer? {
    while end - start < size, !isAtEnd { try fill() }
    let count = min(size, end - start)
    guard count > 0 else { return nil }
    number += 1
    defer { start += count }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + count])
  }

  /// The next bytes, of which there are none only at the end. They are there until the next call of any
  /// method.
  mutating func take(atMost size: Int) throws(InputReaderError) -> UnsafeRawBufferPointer {
    if bytesTaken == 0 { try skipMark() }
    if start == end, !isAtEnd { try fill() }
    let count = min(size, end - start)
    defer { start += count }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + count])
  }

  /// The first bytes of what is still to come, without taking them: all that are there, or as many as
  /// it takes until they are `enough`. They are there until the next call of any method.
  mutating func peek(
    until enough: (UnsafeRawBufferPointer) -> Bool
  ) throws(InputReaderError) -> UnsafeRawBufferPointer {
    while !isAtEnd, !enough(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) { try fill() }
    // Formats are told apart by what stands near the start, not by how much is read at a time.
    return UnsafeRawBufferPointer(rebasing: buffer[start..<min(end, start + Self.longestLine)])
  }

  /// Some editors put a mark of their encoding before a text.
  private mutating func skipMark() throws(InputReaderError) {
    while end - start < 3, !isAtEnd { try fill() }
    if buffer[start..<end].starts(with: UnsafeRawBufferPointer.encodingMark) { start += 3 }
  }

  private mutating func findLine() throws(InputReaderError) -> (Range<Int>, isTerminated: Bool)? {
    var searched = start
    while true {
      let limit = min(end, start + Self.longestLine)
      if let newline = indexOfNewline(from: searched, to: limit) {
        defer { start = newline + 1 }
        return (start..<newline, true)
      }
      if limit == start + Self.longestLine { throw .tooLong(line: number + 1) }
      if isAtEnd {
        guard start < end else { return nil }
        defer { start = end }
        return (start..<end, false)
      }
      searched = end - start
      try fill()
    }
  }

  private func indexOfNewline(from index: Int, to limit: Int) -> Int? {
    guard let base = buffer.baseAddress, index < limit,
      let found = memchr(base + index, Int32(UInt8(ascii: "\n")), limit - index)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  /// Moves what is left to the front of the buffer and reads more behind it.
  private mutating func fill() throws(InputReaderError) {
    if start > 0, let base = buffer.baseAddress {
      memmove(base, base + start, end - start)
      (start, end) = (0, end - start)
    }
    do {
      let space = UnsafeMutableRawBufferPointer(rebasing: buffer[end..<Self.capacity])
      let count = try file.read(at: offset, into: space)
      end += count
      offset += count
      isAtEnd = count == 0
    } catch {
      throw .failed(error)
    }
  }
}

enum InputReaderError: Error {
  case tooLong(line: Int)
  case failed(SystemError)
}

extension RecordingError {
  init(_ error: InputReaderError, file: String) {
    switch error {
    case .tooLong(let line): self.init("not a line of text", file: file, line: line)
    case .failed(let error): self.init(error.reason, file: file)
    }
  }
}
