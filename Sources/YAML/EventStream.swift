import CLibyaml
import Glibc

/// Parses a YAML text of any size into parts: the events of libyaml.
///
/// It refuses what neither configurations nor recordings need and what may exhaust memory or time:
/// anchors, aliases, tags, a second document, nesting deeper than 16, and parts of more than a
/// megabyte.
public final class EventStream {
  /// A part of the text.
  public struct Event {
    /// The kind of a part.
    public enum Kind: Hashable, Sendable {
      /// A text, quoted or not.
      case scalar
      /// A list begins or ends.
      case sequenceStart, sequenceEnd
      /// A mapping begins or ends. Its keys and values follow in turn.
      case mappingStart, mappingEnd
      /// The text ends.
      case end
    }

    /// Its kind.
    public let kind: Kind
    /// Where it begins.
    public let mark: Mark
    /// The text of a scalar; empty for other kinds.
    public let text: String
    /// Whether it is a scalar of more than one line.
    public var hasLineEnds = false
  }

  private static let maximumDepth = 16
  private static let maximumBytes = 1 << 20
  private static let noTags = "tags are not supported"

  let parser: UnsafeMutablePointer<yaml_parser_t>
  private let read: (UnsafeMutableRawBufferPointer) -> Int?
  let firstLine: Int
  private var depth = 0
  private var hasDocument = false

  /// How many bytes libyaml has read since the last part.
  private var bytesSinceEvent = 0

  /// Why libyaml gets no more bytes, if the text is refused.
  private var refusal: String?

  /// Whether the whole text has been read. An error may then mean that its end is missing.
  public var hasReachedEnd: Bool { parser.pointee.eof != 0 && parser.pointee.unread <= 1 }

  /// Parses the text that `read` returns.
  ///
  /// - Parameters:
  ///   - firstLine: the number of the first line, if the text is a section of a longer one.
  ///   - read: fills the buffer with the next bytes and returns how many; 0 at the end, `nil` if
  ///     reading fails.
  public init(firstLine: Int = 1, read: @escaping (UnsafeMutableRawBufferPointer) -> Int?) {
    self.read = read
    self.firstLine = firstLine
    parser = .allocate(capacity: 1)
    yaml_parser_initialize(parser)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    // Unretained, because `deinit` deletes the parser.
    yaml_parser_set_input(
      parser,
      { context, buffer, size, count in
        guard let context, let buffer, let count else { return 0 }
        let stream = Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue()
        guard let read = stream.fill(UnsafeMutableRawBufferPointer(start: buffer, count: size))
        else { return 0 }
        count.pointee = read
        return 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// The next part. Behind the last one, all are ``Event/Kind/end``.
  ///
  /// - Throws: if the YAML is wrong, is refused, or cannot be read.
  public func next() throws(YAMLError) -> Event {
    while true {
      var event = yaml_event_t()
      guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
      defer { yaml_event_delete(&event) }
      bytesSinceEvent = 0
      let mark = mark(event.start_mark)
      switch event.type {
      case YAML_NO_EVENT, YAML_STREAM_END_EVENT: return Event(kind: .end, mark: mark, text: "")
      case YAML_DOCUMENT_START_EVENT:
        guard !hasDocument else {
          throw YAMLError("a second document begins here; only one is allowed", at: mark)
        }
        let directives = event.data.document_start.tag_directives
        guard directives.start == directives.end else { throw YAMLError(Self.noTags, at: mark) }
        hasDocument = true
      case YAML_SCALAR_EVENT:
        let scalar = event.data.scalar
        try refuse(anchor: scalar.anchor, tag: scalar.tag, at: mark)
        let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        return Event(
          kind: .scalar, mark: mark, text: String(decoding: bytes, as: UTF8.self),
          hasLineEnds: event.end_mark.line > event.start_mark.line)
      case YAML_SEQUENCE_START_EVENT:
        let list = event.data.sequence_start
        try refuse(anchor: list.anchor, tag: list.tag, at: mark)
        depth += 1
        return Event(kind: .sequenceStart, mark: mark, text: "")
      case YAML_MAPPING_START_EVENT:
        let mapping = event.data.mapping_start
        try refuse(anchor: mapping.anchor, tag: mapping.tag, at: mark)
        depth += 1
        return Event(kind: .mappingStart, mark: mark, text: "")
      case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
        depth -= 1
        let isList = event.type == YAML_SEQUENCE_END_EVENT
        return Event(kind: isList ? .sequenceEnd : .mappingEnd, mark: mark, text: "")
      case YAML_ALIAS_EVENT: throw YAMLError("aliases are not supported", at: mark)
      default: continue
      }
    }
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
    // libyaml compares each %TAG line with all before it, and returns no part before the last of
    // them. It has two tag directives of its own.
    let directives = parser.pointee.tag_directives
    if directives.top - directives.start > 2 { refusal = Self.noTags }
    if bytesSinceEvent > Self.maximumBytes { refusal = "one value is longer than a megabyte" }
    guard refusal == nil, let count = read(buffer) else { return nil }
    bytesSinceEvent += count
    return count
  }

  /// Throws if a value has an anchor or a tag, or is nested too deep.
  private func refuse(
    anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?,
    at mark: Mark
  ) throws(YAMLError) {
    if anchor != nil { throw YAMLError("anchors are not supported", at: mark) }
    if tag != nil { throw YAMLError(Self.noTags, at: mark) }
    guard depth < Self.maximumDepth else {
      throw YAMLError("nested deeper than \(Self.maximumDepth)", at: mark)
    }
  }

  private func problem() -> YAMLError {
    if let refusal { return YAMLError(refusal, at: mark(parser.pointee.mark)) }
    let message = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
    if parser.pointee.error == YAML_READER_ERROR {
      // libyaml decodes its whole buffer before it parses: only the byte offset is right.
      return YAMLError(
        message.mentions("UTF-8") ? "not UTF-8: \(message)" : message,
        at: mark(parser.pointee.mark), byte: Int(parser.pointee.problem_offset))
    }
    // The start of an open bracket or quote helps more than the line where its end is missing.
    let mark = mark(parser.pointee.problem_mark)
    let start = self.mark(parser.pointee.context_mark)
    guard let context = parser.pointee.context, start < mark else {
      return YAMLError(message, at: mark)
    }
    return YAMLError(
      "\(message) \(String(cString: context)) that begins in line \(start.line)", at: mark)
  }

  private func mark(_ mark: yaml_mark_t) -> Mark {
    Mark(line: Int(mark.line) + firstLine, column: Int(mark.column) + 1)
  }
}

extension String {
  /// Whether it contains `text`. `contains` would link the parser of regular expressions, 1.5 MB,
  /// into every program.
  func mentions(_ text: String) -> Bool { strstr(self, text) != nil }
}
