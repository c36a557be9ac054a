import Glibc
import KeyboardModes
import SystemCalls

/// Splits a file into lines, or into records of one size, in constant memory.
struct InputReader: ~Copyable {
  /// The longest line in bytes. The recording tools write far shorter ones.
  static let longestLine = 65536

  private let file: OpenFile

  /// The bytes of the file that are read.
  private let range: Range<Int>

  /// The most bytes that are read at a time.
  private let capacity: Int
  private let buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private var isAtEnd = false

  /// Where in the file the next bytes are read into the buffer.
  private var offset: Int

  /// The number of the line or record that was returned last, from 1; 0 before the first.
  private(set) var number = 0

  /// How many bytes have been returned.
  var bytesTaken: Int { offset - range.lowerBound - (end - start) }

  /// - Parameter capacity: the size of the buffer, which has to stay in the processor's cache.
  init(
    _ file: OpenFile, _ range: Range<Int> = 0..<Int.max,
    capacity: Int = 2 * InputReader.longestLine
  ) {
    self.file = file
    self.range = range
    self.capacity = capacity
    offset = range.lowerBound
    let size = capacity + RegularText.margin
    buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    buffer[capacity..<size].withMemoryRebound(to: UInt8.self) { $0.initialize(repeating: 0) }
  }

  deinit { buffer.deallocate() }

  /// The next line, without its line end.
  ///
  /// - Parameter skip: takes the fault of a line that is too long, and throws it or lets the reader
  ///   skip the line.
  /// - Returns: the bytes, which are valid until the next call of any method, and whether a line
  ///   end follows them; `nil` at the end.
  mutating func nextLine(
    skippingLong skip: (RecordingError) throws(RecordingError) -> Void
  ) throws(RecordingError) -> (UnsafeRawBufferPointer, isTerminated: Bool)? {
    if number == 0 { try skipMark() }
    var searched = start
    while true {
      let limit = min(end, start + Self.longestLine)
      if let newline = indexOfNewline(from: searched, to: limit) {
        defer { start = newline + 1 }
        return (line(start..<newline), true)
      }
      if limit == start + Self.longestLine {
        number += 1
        try skip(RecordingError("not a line of text", file: file.name, line: number))
        try skipLine()
        searched = start
      } else if isAtEnd {
        guard start < end else { return nil }
        defer { start = end }
        return (line(start..<end), false)
      } else {
        searched = end - start
        try fill()
      }
    }
  }

  private mutating func line(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    number += 1
    var end = range.upperBound
    // Some shells end a line with several carriage returns.
    while end > range.lowerBound, buffer[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: buffer[range.lowerBound..<end])
  }

  /// The next line, like ``nextLine(skippingLong:)``, if it is in memory as a whole and not the first.
  mutating func nextWholeLine() -> UnsafeRawBufferPointer? {
    guard number > 0,
      let newline = indexOfNewline(from: start, to: min(end, start + Self.longestLine))
    else { return nil }
    defer { start = newline + 1 }
    return line(start..<newline)
  }

  private mutating func skipLine() throws(RecordingError) {
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

  /// The key events that a fast path finds in the next lines or records, as far as they are in
  /// memory already and not the first of the file, and the number of their device; `nil` if it finds
  /// none.
  ///
  /// - Parameter read: the fast path: parses into the buffer, and returns how much it has read.
  mutating func nextKeys(
    _ read: (RegularText, UnsafeMutableBufferPointer<KeyEvent>) -> RegularText.Length
  ) -> (events: [KeyEvent], device: Int)? {
    guard number > 0, start < end, let base = buffer.baseAddress else { return nil }
    let (events, length) = RegularText(start: base + start, end: base + end).keys(read)
    start += length.bytes
    number += length.parts
    return events.isEmpty ? nil : (events, length.device)
  }

  /// The next `size` bytes, or fewer before the end; `nil` at the end. They are valid until the
  /// next call.
  mutating func nextRecord(of size: Int) throws(RecordingError) -> UnsafeRawBufferPointer? {
    while end - start < size, !isAtEnd { try fill() }
    let count = min(size, end - start)
    guard count > 0 else { return nil }
    number += 1
    defer { start += count }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + count])
  }

  /// The next bytes: at least one, except at the end. They are valid until the next call.
  mutating func take(atMost size: Int) throws(RecordingError) -> UnsafeRawBufferPointer {
    if bytesTaken == 0 { try skipMark() }
    if start == end, !isAtEnd { try fill() }
    let count = min(size, end - start)
    defer { start += count }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + count])
  }

  /// The next bytes, without taking them: reads until they are `enough` or the file ends. They are
  /// valid until the next call of any method.
  mutating func peek(
    until enough: (UnsafeRawBufferPointer) -> Bool
  ) throws(RecordingError) -> UnsafeRawBufferPointer {
    while !isAtEnd, !enough(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) { try fill() }
    // Which format is detected must not depend on how much is read at a time.
    return UnsafeRawBufferPointer(rebasing: buffer[start..<min(end, start + Self.longestLine)])
  }

  /// Skips the byte order mark that some editors write at the start of a text.
  private mutating func skipMark() throws(RecordingError) {
    while end - start < 3, !isAtEnd { try fill() }
    if buffer[start..<end].starts(with: UnsafeRawBufferPointer.encodingMark) { start += 3 }
  }

  private func indexOfNewline(from index: Int, to limit: Int) -> Int? {
    guard let base = buffer.baseAddress, index < limit,
      let found = memchr(base + index, Int32(UInt8(ascii: "\n")), limit - index)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  /// Moves the unread bytes to the start of the buffer and reads more behind them.
  private mutating func fill() throws(RecordingError) {
    if start > 0, let base = buffer.baseAddress {
      memmove(base, base + start, end - start)
      (start, end) = (0, end - start)
    }
    do {
      let limit = min(capacity, end + (range.upperBound - offset))
      let space = UnsafeMutableRawBufferPointer(rebasing: buffer[end..<limit])
      let count = try file.read(at: offset, into: space)
      end += count
      offset += count
      isAtEnd = count == 0
    } catch {
      throw RecordingError(error.reason, file: file.name)
    }
  }
}
