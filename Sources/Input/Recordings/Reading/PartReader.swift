import Glibc
import System
import Terminal

/// Splits a file into lines, or into records of one size, in constant memory.
struct PartReader: ~Copyable {
  /// The maximum length of a line, in bytes. The recording tools write far shorter lines.
  static let maxLineBytes = 65536

  /// A line without its line end, or a record.
  struct Part {
    /// The bytes, which are valid until the next call of any method of the reader.
    let bytes: UnsafeRawBufferPointer
    /// Whether the line has its end, or the record its full size; `false` only at the file's end.
    let isComplete: Bool
  }

  /// The file's name in messages: its path, or `<stdin>`.
  let name: String

  /// The size in bytes; `nil` for standard input and pipes, which can be read only once.
  let size: Int?

  private let descriptor: FileDescriptor
  private let buffer: UnsafeMutableRawBufferPointer

  /// The bytes of the buffer from `start` to `end` were read from the file but not returned.
  private var start = 0
  private var end = 0
  private var isAtEnd = false

  /// The number of the line or record that was returned last, from 1; 0 before the first.
  private(set) var number = 0

  /// Opens the file at `path`; `-` is standard input.
  init(_ path: String) throws(RecordingError) {
    let isStandardInput = path == "-"
    let name = isStandardInput ? "<stdin>" : path
    let file = try Self.open(path, name, isStandardInput: isStandardInput)
    self.name = name
    // Standard input counts as a pipe: if it is a file, a script may have read a part of it.
    size = isStandardInput ? nil : file.sizeOfRegularFile
    descriptor = file
    // A larger buffer would not stay in the processor's cache.
    buffer = .allocate(byteCount: 2 * Self.maxLineBytes, alignment: 8)
  }

  // A function of its own, because Swift 6.0 cannot catch an error while a noncopyable value is
  // only partly initialized.
  private static func open(
    _ path: String, _ name: String, isStandardInput: Bool
  ) throws(RecordingError) -> FileDescriptor {
    do throws(SystemError) {
      return try isStandardInput ? FileDescriptor.standardInput() : FileDescriptor.opening(path)
    } catch {
      throw RecordingError(error.reason, file: name)
    }
  }

  deinit { buffer.deallocate() }

  /// The next line; `nil` at the end.
  ///
  /// - Parameter mayRead: whether more of the file may be read. If not, returns `nil` also if a
  ///   part of the next line is not in memory yet.
  /// - Throws: if the file cannot be read, or if the line is longer than ``maxLineBytes``.
  mutating func nextLine(mayRead: Bool) throws(RecordingError) -> Part? {
    var searched = start
    while true {
      let limit = min(end, start + Self.maxLineBytes)
      if let newline = indexOfNewline(from: searched, to: limit) {
        let line = start..<newline
        start = newline + 1
        return Part(bytes: take(line).withoutCarriageReturns, isComplete: true)
      }
      guard limit < start + Self.maxLineBytes else {
        throw RecordingError("not a line of text", file: name, line: number + 1)
      }
      if isAtEnd {
        let line = start..<end
        start = end
        return line.isEmpty ? nil : Part(bytes: take(line), isComplete: false)
      }
      guard mayRead else { return nil }
      searched = end - start
      try fill()
    }
  }

  /// The next record of `size` bytes; `nil` at the end. The last record may be shorter.
  ///
  /// - Parameter mayRead: see ``nextLine(mayRead:)``.
  mutating func nextRecord(of size: Int, mayRead: Bool) throws(RecordingError) -> Part? {
    while end - start < size, !isAtEnd {
      guard mayRead else { return nil }
      try fill()
    }
    let record = start..<min(start + size, end)
    guard !record.isEmpty else { return nil }
    start = record.upperBound
    return Part(bytes: take(record), isComplete: record.count == size)
  }

  /// The next bytes, without taking them: reads until the bytes are `enough` or the file ends. The
  /// bytes are valid until the next call of any method.
  mutating func peek(
    until enough: (UnsafeRawBufferPointer) -> Bool
  ) throws(RecordingError) -> UnsafeRawBufferPointer {
    while !isAtEnd, !enough(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) { try fill() }
    // The limit keeps the detected format independent of how much is read at a time.
    return UnsafeRawBufferPointer(rebasing: buffer[start..<min(end, start + Self.maxLineBytes)])
  }

  /// Skips the byte order mark that Windows puts before UTF-8, if it is next.
  mutating func skipByteOrderMark() throws(RecordingError) {
    if try peek(until: { $0.count >= 3 }).begins(with: "\u{feff}") { start += 3 }
  }

  /// Counts the line or record in this part of the buffer, and returns its bytes.
  private mutating func take(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    number += 1
    return UnsafeRawBufferPointer(rebasing: buffer[range])
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
      let count = try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
      end += count
      isAtEnd = count == 0
    } catch {
      throw RecordingError(error.reason, file: name)
    }
  }
}
