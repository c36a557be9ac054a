import CLibyaml
import Glibc
import Terminal

extension Node {
  /// The maximum length of a scalar, in bytes. Longer scalars are refused, because some operations
  /// on a text take more than linear time.
  static let maxScalarBytes = 256

  /// Parses the YAML text of the file with this index.
  ///
  /// - Returns: the document's value; `nil` if the text is empty or has only comments.
  /// - Throws: if the YAML is wrong or refused; see ``Parser``.
  static func document(parsing bytes: [UInt8], file: Int) throws(YAMLError) -> Node? {
    if let fault = encodingFault(of: bytes) {
      throw YAMLError(fault, at: Mark(file: file, line: 1, column: 1))
    }
    try Parser.refuseTagDirectives(in: bytes, file: file)
    let result = bytes.withUnsafeBufferPointer { text in
      Result { () throws(YAMLError) -> Node? in
        var parser = Parser(text, file: file)
        let root = try parser.next()
        // The text after the document is parsed too, to find errors in it.
        while try parser.next() != nil {}
        return root
      }
    }
    return try result.get()
  }
}

/// Parses a YAML text by libyaml.
///
/// It refuses anchors, aliases, tags, a second document, nesting deeper than 16, and long scalars:
/// a configuration does not need them, and they may exhaust memory or time.
struct Parser: ~Copyable {
  private static let maxDepth = 16
  private static let noTags = "tags are not supported"
  private static let noAliases = "a text that begins with '*' needs quotes: there are no aliases"

  private let text: UnsafeBufferPointer<UInt8>
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let file: Int
  private var depth = 0
  private var hasDocument = false

  /// A parser for the text of the file with this index. `text` has to stay in memory as long as the
  /// parser.
  init(_ text: UnsafeBufferPointer<UInt8>, file: Int) {
    (self.text, self.file) = (text, file)
    parser = .allocate(capacity: 1)
    yaml_parser_initialize(parser)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, text.baseAddress, text.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// The next value; `nil` at the end of a list, of a mapping or of the text.
  ///
  /// - Throws: if the YAML is wrong or refused.
  mutating func next() throws(YAMLError) -> Node? {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
    defer { yaml_event_delete(&event) }
    let mark = mark(event.start_mark)
    switch event.type {
    case YAML_DOCUMENT_START_EVENT:
      guard !hasDocument else {
        throw YAMLError("a second document begins here; only one is allowed", at: mark)
      }
      let directives = event.data.document_start.tag_directives
      guard directives.start == directives.end else { throw YAMLError(Self.noTags, at: mark) }
      hasDocument = true
      return try next()
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      try check(anchor: scalar.anchor, tag: scalar.tag, at: mark)
      guard scalar.length <= Node.maxScalarBytes else {
        throw YAMLError("this text is longer than \(Node.maxScalarBytes) bytes", at: mark)
      }
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      let text = String(decoding: bytes, as: UTF8.self)
      return Node(content: .scalar(text), mark: mark.reaching(to: self.mark(event.end_mark)))
    case YAML_SEQUENCE_START_EVENT:
      let list = event.data.sequence_start
      try check(anchor: list.anchor, tag: list.tag, at: mark)
      return Node(content: .sequence(try elements()), mark: mark)
    case YAML_MAPPING_START_EVENT:
      let mapping = event.data.mapping_start
      try check(anchor: mapping.anchor, tag: mapping.tag, at: mark)
      let parts = try elements()
      let pairs = stride(from: 0, to: parts.count - 1, by: 2).map {
        Node.Pair(key: parts[$0], value: parts[$0 + 1])
      }
      return Node(content: .mapping(pairs), mark: mark)
    case YAML_ALIAS_EVENT: throw YAMLError(Self.noAliases, at: mark)
    case YAML_STREAM_START_EVENT, YAML_DOCUMENT_END_EVENT: return try next()
    default: return nil
    }
  }

  /// The values up to the end of a list or a mapping.
  private mutating func elements() throws(YAMLError) -> [Node] {
    depth += 1
    defer { depth -= 1 }
    var elements: [Node] = []
    while let element = try next() { elements.append(element) }
    return elements
  }

  /// Throws if a line is a `%TAG` directive: libyaml compares each such directive with all earlier
  /// ones, which takes very long for many directives.
  static func refuseTagDirectives(in text: [UInt8], file: Int) throws(YAMLError) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard let index = lines.firstIndex(where: { $0.starts(with: "%TAG".utf8) }) else { return }
    throw YAMLError(noTags, at: Mark(file: file, line: index + 1, column: 1))
  }

  /// Throws if a value has an anchor or a tag, or is nested too deep.
  private func check(
    anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?,
    at mark: Mark
  ) throws(YAMLError) {
    if anchor != nil { throw YAMLError("anchors are not supported", at: mark) }
    if tag != nil { throw YAMLError(Self.noTags, at: mark) }
    guard depth < Self.maxDepth else {
      throw YAMLError("nested deeper than \(Self.maxDepth)", at: mark)
    }
  }

  private func problem() -> YAMLError {
    let message = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
    if parser.pointee.error == YAML_READER_ERROR {
      // libyaml decodes a whole buffer before parsing, so only the offset locates the error.
      return YAMLError(
        message.mentions("UTF-8") ? "not UTF-8: \(message)" : message,
        at: end(of: text.prefix(Int(parser.pointee.problem_offset))))
    }
    // libyaml reports the end of a text as a position in the line after the last line.
    let mark = min(mark(parser.pointee.problem_mark), end(of: text))
    let start = self.mark(parser.pointee.context_mark)
    let context = parser.pointee.context.map { String(cString: $0) } ?? ""
    if context.mentions("scanning an alias") { return YAMLError(Self.noAliases, at: mark) }
    let lines = splitLines(of: text)
    let rest = lines[mark.line - 1].dropFirst(mark.column - 1)
    if ["start any token", "tab character"].contains(where: message.mentions), rest.first == "\t" {
      return YAMLError("this is a tab; indent with spaces", at: mark)
    }
    // Perhaps a name alone on the line before lacks its colon.
    if ["mapping values", "expected ':'", "expected key"].contains(where: message.mentions),
      let fault = Self.missingColonError(in: lines, before: mark.line, file: file)
    {
      return fault
    }
    let place =
      !context.isEmpty && start < mark ? " \(context) that begins in line \(start.line)" : ""
    let hint = Self.hints.first { message.mentions($0.problem) }.map { "; \($0.hint)" } ?? ""
    return YAMLError("\(message)\(place)\(hint)", at: mark)
  }

  /// Hints for the errors that people meet most and that libyaml's messages do not explain.
  private static let hints = [
    (
      problem: "mapping values",
      hint: "begin a new line after the first ':', or indent this line like the others of its group"
    ),
    (problem: "document start", hint: "begin all settings in the same column"),
    (problem: "expected key", hint: "indent this line like the others of its group"),
    (problem: "node content", hint: "a value or a closing bracket is missing"),
    (problem: "expected ':'", hint: "a space must follow ':'"),
    (problem: "start any token", hint: "indent with spaces, and quote special characters"),
  ]

  /// Finds the last line before `end` with text outside a comment. Returns an error if this line is
  /// a name without its colon, or a comment that does not begin with `#`; otherwise `nil`.
  private static func missingColonError(
    in lines: [Substring], before end: Int, file: Int
  ) -> YAMLError? {
    for number in (1..<end).reversed() where lines.indices.contains(number - 1) {
      let line = lines[number - 1].prefix { $0 != "#" }
      guard let start = line.firstIndex(where: { $0 != " " }) else { continue }
      let words = line.split(separator: " ")
      let column = line.distance(from: line.startIndex, to: start) + 1
      if [";", "//"].contains(where: words[0].hasPrefix) {
        return YAMLError(
          "a comment begins with '#'", at: Mark(file: file, line: number, column: column))
      }
      guard words.count == 1, words[0].utf8.allSatisfy({ isLetter($0) || $0 == UInt8(ascii: "_") })
      else { return nil }
      return YAMLError(
        "':' is missing after '\(words[0])'",
        at: Mark(file: file, line: number, column: column, length: words[0].utf8.count))
    }
    return nil
  }

  /// The position after the end of `part`, which begins where the text begins.
  private func end(of part: some Sequence<UInt8>) -> Mark {
    let lines = splitLines(of: part)
    return Mark(file: file, line: lines.count, column: (lines.last?.unicodeScalars.count ?? 0) + 1)
  }

  private func mark(_ mark: yaml_mark_t) -> Mark {
    Mark(file: file, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }
}

extension Mark {
  /// This position with the length of the text up to `end`, if `end` is in the same line.
  fileprivate func reaching(to end: Mark) -> Mark {
    guard end.line == line, end.column > column else { return self }
    return Mark(file: file, line: line, column: column, length: end.column - column)
  }
}

extension String {
  /// Whether the string contains `text`. `contains` would link the parser of regular expressions,
  /// 1.5 MB, into every program.
  func mentions(_ text: String) -> Bool { strstr(self, text) != nil }
}
