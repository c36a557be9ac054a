extension Node {
  /// The longest scalar in a document, in bytes. Longer ones are refused, because some operations
  /// on a text take more than linear time.
  public static let maximumText = 256

  /// Parses a YAML text with one document.
  ///
  /// - Returns: the document's value; `nil` if the text is empty or has only comments.
  /// - Throws: if the YAML is wrong, ``EventStream`` refuses it, or a scalar is longer than
  ///   ``maximumText``.
  public static func document(parsing bytes: [UInt8]) throws(YAMLError) -> Node? {
    do throws(YAMLError) {
      return try read(bytes)
    } catch {
      throw error.located(in: bytes)
    }
  }

  private static func read(_ bytes: [UInt8]) throws(YAMLError) -> Node? {
    var rest = bytes[...]
    let stream = EventStream { buffer in
      let count = min(buffer.count, rest.count)
      buffer.copyBytes(from: rest.prefix(count))
      rest = rest.dropFirst(count)
      return count
    }
    let first = try stream.next()
    guard first.kind != .end else { return nil }
    let root = try node(first, stream)
    // The text behind the document is parsed too, because it may be wrong.
    while try stream.next().kind != .end {}
    return root
  }

  private static func node(
    _ event: EventStream.Event, _ stream: EventStream
  ) throws(YAMLError) -> Node {
    switch event.kind {
    case .sequenceStart:
      var nodes: [Node] = []
      while case let element = try stream.next(), element.kind != .sequenceEnd {
        nodes.append(try node(element, stream))
      }
      return Node(content: .sequence(nodes), mark: event.mark)
    case .mappingStart:
      var pairs: [Node.Pair] = []
      while case let name = try stream.next(), name.kind != .mappingEnd {
        let key = try node(name, stream)
        pairs.append(Node.Pair(key: key, value: try node(try stream.next(), stream)))
      }
      return Node(content: .mapping(pairs), mark: event.mark)
    case .scalar, .sequenceEnd, .mappingEnd, .end:
      guard event.text.utf8.count <= maximumText else {
        throw YAMLError("this text is longer than \(maximumText) bytes", at: event.mark)
      }
      return Node(content: .scalar(event.text), mark: event.mark)
    }
  }
}

extension YAMLError {
  /// The same error with a better message or mark, if the whole text allows one.
  fileprivate func located(in bytes: [UInt8]) -> YAMLError {
    if let byte { return YAMLError(message, at: Mark(endOf: lines(of: bytes.prefix(byte)))) }
    let lines = lines(of: bytes[...])
    if mark.line <= lines.count, message.mentions("cannot start any token"),
      lines[mark.line - 1].dropFirst(mark.column - 1).first == UInt8(ascii: "\t")
    {
      return YAMLError("a tab is not allowed here; indent with spaces", at: mark)
    }
    // libyaml reports errors at the end of the text in an empty last line, also if there is none.
    let isAtEnd = mark.line >= lines.count && lines.last?.isEmpty != false
    guard isAtEnd || mark.line > lines.count else { return self }
    let hint = message.mentions("end of stream") ? "" : "; the text ends here"
    return YAMLError("\(message)\(hint)", at: min(mark, Mark(endOf: lines)))
  }

  /// The lines of a text, each with its line end. The last one has none.
  private func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    bytes.withUnsafeBytes { text in
      var lines: [ArraySlice<UInt8>] = []
      var start = 0
      while let end = text.endOfLine(from: start, isComplete: true) {
        lines.append(bytes[start..<end])
        start = end
      }
      return lines + [bytes[start...]]
    }
  }
}

extension Mark {
  fileprivate init(endOf lines: [ArraySlice<UInt8>]) {
    // Continuation bytes of UTF-8 do not begin a character.
    let characters = (lines.last ?? []).count { $0 & 0xc0 != 0x80 }
    self.init(line: lines.count, column: characters + 1)
  }
}
