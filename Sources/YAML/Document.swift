extension Node {
  /// The longest text in a document, in bytes. No name or value needs more, and much that is done with
  /// a text takes longer than its length.
  public static let maximumText = 256

  /// Reads the one document of a YAML text.
  ///
  /// - Returns: the document's value, or `nil` where the text is empty or only comments.
  /// - Throws: for bad YAML, for what ``EventStream`` refuses, and for a text that is longer than
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
      guard event.text.utf8.count <= maximumText else {
        throw YAMLError("a text of more than \(maximumText) bytes", at: event.mark)
      }
      return Node(.scalar(event.text), at: event.mark)
    }
  }
}

extension YAMLError {
  /// The same, where whoever has the whole text can say more than libyaml.
  fileprivate func located(in bytes: [UInt8]) -> YAMLError {
    if let byte { return YAMLError(message, at: Mark(endOf: lines(of: bytes.prefix(byte)))) }
    let lines = lines(of: bytes[...])
    if mark.line <= lines.count, message.mentions("cannot start any token"),
      lines[mark.line - 1].dropFirst(mark.column - 1).first == UInt8(ascii: "\t")
    {
      return YAMLError("a tab stands where only spaces may", at: mark)
    }
    // The last line of a text that ends as it should is an empty one. To libyaml every text ends in
    // such a line, whether it has one or not.
    let isAtEnd = mark.line >= lines.count && lines.last?.isEmpty != false
    guard isAtEnd || mark.line > lines.count else { return self }
    let hint = message.mentions("end of stream") ? "" : "; the text ends here"
    return YAMLError("\(message)\(hint)", at: min(mark, Mark(endOf: lines)))
  }

  /// The lines of a text, which end where they end for libyaml: at CR, LF, both, NEL, LS and PS.
  private func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var (start, place) = (bytes.startIndex, bytes.startIndex)
    while place < bytes.endIndex {
      if let length = lengthOfLineEnd(at: place, in: bytes) {
        lines.append(bytes[start..<place])
        place += length
        start = place
      } else {
        place += 1
      }
    }
    return lines + [bytes[start...]]
  }

  /// How many bytes the line end at `place` has; `nil` where there is none.
  private func lengthOfLineEnd(at place: Int, in bytes: ArraySlice<UInt8>) -> Int? {
    func byte(_ offset: Int) -> UInt8? {
      place + offset < bytes.endIndex ? bytes[place + offset] : nil
    }
    return switch bytes[place] {
    case 0x0a: 1
    case 0x0d: byte(1) == 0x0a ? 2 : 1
    case 0xc2: byte(1) == 0x85 ? 2 : nil
    case 0xe2: byte(1) == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9) ? 3 : nil
    default: nil
    }
  }
}

extension Mark {
  fileprivate init(endOf lines: [ArraySlice<UInt8>]) {
    // The bytes that go on a character are none of their own.
    let characters = (lines.last ?? []).count { $0 & 0xc0 != 0x80 }
    self.init(line: lines.count, column: characters + 1)
  }
}
