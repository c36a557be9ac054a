extension Node {
  /// The longest scalar in a document, in bytes. Longer ones are refused, because some operations
  /// on a text take more than linear time.
  static let maximumText = 256

  /// Parses a YAML text with one document: the file with this number.
  ///
  /// - Returns: the document's value; `nil` if the text is empty or has only comments.
  /// - Throws: if the YAML is wrong, it has anchors, aliases, tags, a second document or is nested
  ///   deeper than 16, or a scalar is longer than ``maximumText``.
  static func document(parsing bytes: [UInt8], file: Int) throws(YAMLError) -> Node? {
    do throws(YAMLError) {
      return try read(bytes, file: file)
    } catch {
      throw error.located(in: bytes)
    }
  }

  private static func read(_ bytes: [UInt8], file: Int) throws(YAMLError) -> Node? {
    try Parser.refuseTagDirectives(in: bytes, file: file)
    let result = bytes.withUnsafeBufferPointer { text in
      Result { () throws(YAMLError) -> Node? in
        var parser = Parser(text, file: file)
        let root = try parser.next()
        // The text behind the document is parsed too, because it may be wrong.
        while try parser.next() != nil {}
        return root
      }
    }
    return try result.get()
  }
}

extension YAMLError {
  /// This error, with a better message or mark if the whole text shows one.
  fileprivate func located(in bytes: [UInt8]) -> YAMLError {
    if let byte {
      return YAMLError(
        message, at: Mark(file: mark.file, endOf: splitLines(of: bytes.prefix(byte))))
    }
    let lines = splitLines(of: bytes[...])
    if mark.line <= lines.count, message.mentions("cannot start any token"),
      lines[mark.line - 1].unicodeScalars.dropFirst(mark.column - 1).first == "\t"
    {
      return YAMLError("a tab is not allowed here; indent with spaces", at: mark)
    }
    if message.mentions("scanning an alias") {
      return YAMLError(YAMLError.noAliases, at: mark)
    }
    if let explained = explained(by: lines) { return explained }
    // libyaml reports errors at the end of the text in an empty last line, also if there is none.
    let isAtEnd = mark.line >= lines.count && lines.last?.isEmpty != false
    guard isAtEnd || mark.line > lines.count else { return self }
    let hint = message.mentions("end of stream") ? "" : "; the text ends here"
    return YAMLError("\(message)\(hint)", at: min(mark, Mark(file: mark.file, endOf: lines)))
  }
}

/// The lines of a text, without their ends.
func splitLines(of text: ArraySlice<UInt8>) -> [Substring] {
  String(decoding: text, as: UTF8.self)
    .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
}

extension Mark {
  fileprivate init(file: Int, endOf lines: [Substring]) {
    self.init(
      file: file, line: lines.count, column: (lines.last?.unicodeScalars.count ?? 0) + 1)
  }
}
