extension Node {
  /// Reads the one document of a YAML text.
  ///
  /// - Returns: the document's value, or `nil` where the text is empty or only comments.
  /// - Throws: for bad YAML, and for what ``EventStream`` refuses.
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
    // Whatever follows the document is read too, since it may be wrong.
    while try stream.next().kind != .end {}
    return root
  }

  private static func node(
    _ event: EventStream.Event, _ stream: EventStream
  ) throws(YAMLError) -> Node {
    switch event.kind {
    case .sequenceStart:
      var nodes: [Node] = []
      while true {
        let element = try stream.next()
        if element.kind == .sequenceEnd { break }
        nodes.append(try node(element, stream))
      }
      return Node(.sequence(nodes), at: event.mark)
    case .mappingStart:
      var pairs: [(key: Node, value: Node)] = []
      while true {
        let name = try stream.next()
        if name.kind == .mappingEnd { break }
        let key = try node(name, stream)
        pairs.append((key, try node(try stream.next(), stream)))
      }
      return Node(.mapping(pairs), at: event.mark)
    case .scalar, .sequenceEnd, .mappingEnd, .end:
      return Node(.scalar(event.text), at: event.mark)
    }
  }
}

extension YAMLError {
  /// The same, where whoever has the whole text can say more than libyaml.
  fileprivate func located(in bytes: [UInt8]) -> YAMLError {
    if let byte {
      let before = bytes.prefix(byte)
      let lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      // The bytes that go on a character are none of their own.
      let column = (lines.last ?? []).count { $0 & 0xc0 != 0x80 }
      return YAMLError(message, at: Mark(line: lines.count, column: column + 1))
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if mark.line <= lines.count, message.contains("cannot start any token"),
      lines[mark.line - 1].dropFirst(mark.column - 1).first == UInt8(ascii: "\t")
    {
      return YAMLError("a tab stands where only spaces may", at: mark)
    }
    return self
  }
}
