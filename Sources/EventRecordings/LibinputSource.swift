internal import Glibc

/// Where the YAML comes from, and what of it may have to be read again: a text that is damaged is read
/// in parts, each by a reader of its own.
final class LibinputSource {
  private var input: InputReader

  /// Why reading failed, if it did.
  private(set) var failure: String?

  /// Whether a comment said that keys were obfuscated; libyaml passes over comments.
  private(set) var hasObfuscationMark = false

  /// What is kept of the text, from `line` on.
  private var text: [UInt8] = []
  private(set) var line = 1
  private var isAtEnd = false

  /// Lines up to this one will not be asked for again.
  var doneLine = 0

  /// What the reader gets before the text, which is read from `position` up to `limit`.
  private var prefix: ArraySlice<UInt8> = []
  private var position = 0
  private var limit: Int?

  /// Where in the text the reader began, and what it got before.
  private var start = 0
  private var prefixSize = 0

  private static let chunk = 16384

  init(_ input: consuming InputReader) { self.input = input }

  var bytesTaken: Int { input.bytesTaken }

  /// Hands the next bytes to the reader.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    if prefix.isEmpty, limit == nil, position == text.count, !fetch() {
      return failure == nil ? 0 : nil
    }
    let next = prefix.isEmpty ? text[position..<(limit ?? text.count)] : prefix
    let count = min(buffer.count, next.count)
    buffer.copyBytes(from: next.prefix(count))
    if prefix.isEmpty { position += count } else { prefix = prefix.dropFirst(count) }
    return count
  }

  /// From now on hands out the lines from number `first` to before `end`.
  ///
  /// - Parameters:
  ///   - indentation: how many bytes of the first are left out.
  ///   - prefix: what stands before them.
  func restart(at first: Int, before end: Int?, without indentation: Int, behind prefix: String) {
    limit = nil
    if let end {
      position = text.count
      limit = index(ofLine: end)
    }
    position = min(index(ofLine: first) + indentation, limit ?? text.count)
    start = position
    self.prefix = Array(prefix.utf8)[...]
    prefixSize = prefix.utf8.count
  }

  /// The line of the byte that is number `offset` of those that the reader got.
  func line(ofByte offset: Int) -> Int {
    let place = start + offset - prefixSize
    var (line, index) = (line, 0)
    while let end = endOfLine(from: index), end <= place { (line, index) = (line + 1, end) }
    return line
  }

  /// The line with this number, or only the beginning of it if it is very long; `nil` behind the last.
  /// What stands before it is forgotten.
  func text(ofLine number: Int) -> ArraySlice<UInt8>? {
    (doneLine, limit, position) = (number - 1, nil, text.count)
    while true {
      forget()
      if line == number, let end = endOfLine(from: 0) { return text[..<end] }
      if line == number, text.count > InputReader.longestLine { return text[...] }
      guard fetch() else { return line == number && !text.isEmpty ? text[...] : nil }
      position = text.count
    }
  }

  private func fetch() -> Bool {
    guard !isAtEnd, failure == nil else { return false }
    forget()
    do throws(InputReaderError) {
      let next = try input.take(atMost: Self.chunk)
      if !hasObfuscationMark { hasObfuscationMark = next.firstOffset(of: " (obfuscated)") != nil }
      text.append(contentsOf: next)
      isAtEnd = next.isEmpty
      return !isAtEnd
    } catch {
      failure = RecordingError(error, file: "").message
      return false
    }
  }

  /// Forgets what was handed out of the lines that are done.
  private func forget() {
    var index = 0
    while line <= doneLine, let end = endOfLine(from: index), end <= position {
      (line, index) = (line + 1, end)
    }
    // A line can be as long as the recording. The end of a line has three bytes at most.
    if line <= doneLine { index = max(index, position - 2) }
    text.removeFirst(index)
    position -= index
    start -= index
    limit? -= index
  }

  private func index(ofLine number: Int) -> Int {
    var (line, index) = (line, 0)
    while line < number {
      guard let end = endOfLine(from: index) else {
        guard !isAtEnd, fetch() else { return text.count }
        (line, index) = (self.line, 0)
        continue
      }
      (line, index) = (line + 1, end)
    }
    return index
  }

  /// Where the next line begins, if the end of this one is here: lines end where they end for libyaml,
  /// at CR, LF, both, NEL, LS and PS.
  private func endOfLine(from index: Int) -> Int? {
    text.withUnsafeBytes { text in
      var end = text.offset(of: 0x0a, in: index..<text.count).map { $0 + 1 }
      if let place = text.offset(of: 0x0d, in: index..<(end ?? text.count)) {
        // Whether LF follows is not known yet where nothing does.
        guard place + 1 < text.count || isAtEnd else { return nil }
        if place + 2 != end { end = place + 1 }
      }
      for mark in [[0xc2, 0x85], [0xe2, 0x80, 0xa8], [0xe2, 0x80, 0xa9]] as [[UInt8]] {
        var start = index
        while let place = text.offset(of: mark[0], in: start..<(end ?? text.count)) {
          start = place + 1
          if text[place...].starts(with: mark) { end = place + mark.count }
        }
      }
      return end
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Where `byte` stands first in `range`, if anywhere.
  fileprivate func offset(of byte: UInt8, in range: Range<Int>) -> Int? {
    guard let baseAddress, !range.isEmpty,
      let found = memchr(baseAddress + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return UnsafeRawPointer(found) - baseAddress
  }
}
