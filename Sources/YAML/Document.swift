internal import CLibyaml

extension Node {
  /// Reads the one document of a YAML text.
  ///
  /// - Returns: the document's value, or `nil` where the text is empty or only comments.
  /// - Throws: for bad YAML, and for what a configuration has no use for and a careless reader would
  ///   be harmed by: anchors, aliases, tags, a second document, nesting deeper than 16.
  public static func document(parsing bytes: [UInt8]) throws(YAMLError) -> Node? {
    let result: Result<Node?, YAMLError> = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(YAMLError) in
        var parser = EventReader(bytes)
        defer { parser.close() }
        return try parser.document()
      }
    }
    return try result.get()
  }
}

/// Builds nodes from libyaml's events.
private struct EventReader {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private static let maximumDepth = 16

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    parser = .allocate(capacity: 1)
    yaml_parser_initialize(parser)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  func close() {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  mutating func document() throws(YAMLError) -> Node? {
    var root: Node?
    while true {
      let event = try next()
      switch event.kind {
      case YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_DOCUMENT_END_EVENT: continue
      case YAML_STREAM_END_EVENT: return root
      default:
        guard root == nil else { throw YAMLError("a second document", at: event.mark) }
        root = try node(event, depth: 1)
      }
    }
  }

  private mutating func node(_ event: Event, depth: Int) throws(YAMLError) -> Node {
    guard depth <= Self.maximumDepth else {
      throw YAMLError("nested deeper than \(Self.maximumDepth)", at: event.mark)
    }
    switch event.kind {
    case YAML_SEQUENCE_START_EVENT:
      var nodes: [Node] = []
      while true {
        let element = try next()
        if element.kind == YAML_SEQUENCE_END_EVENT { break }
        nodes.append(try node(element, depth: depth + 1))
      }
      return Node(.sequence(nodes), at: event.mark)
    case YAML_MAPPING_START_EVENT:
      var pairs: [(key: Node, value: Node)] = []
      while true {
        let name = try next()
        if name.kind == YAML_MAPPING_END_EVENT { break }
        let key = try node(name, depth: depth + 1)
        pairs.append((key, try node(try next(), depth: depth + 1)))
      }
      return Node(.mapping(pairs), at: event.mark)
    default:
      return Node(.scalar(event.text), at: event.mark)
    }
  }

  /// What is kept of one of libyaml's events.
  private struct Event {
    let kind: yaml_event_type_t
    let mark: Mark
    let text: String
  }

  private mutating func next() throws(YAMLError) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
    defer { yaml_event_delete(&event) }
    let mark = Mark(event.start_mark)
    var text = ""
    var isAnchored = false
    var isTagged = false
    switch event.type {
    case YAML_ALIAS_EVENT: throw YAMLError("aliases are not supported", at: mark)
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      (isAnchored, isTagged) = (scalar.anchor != nil, scalar.tag != nil)
    case YAML_SEQUENCE_START_EVENT:
      let sequence = event.data.sequence_start
      (isAnchored, isTagged) = (sequence.anchor != nil, sequence.tag != nil)
    case YAML_MAPPING_START_EVENT:
      let mapping = event.data.mapping_start
      (isAnchored, isTagged) = (mapping.anchor != nil, mapping.tag != nil)
    default: break
    }
    if isAnchored { throw YAMLError("anchors are not supported", at: mark) }
    if isTagged { throw YAMLError("tags are not supported", at: mark) }
    return Event(kind: event.type, mark: mark, text: text)
  }

  private func problem() -> YAMLError {
    let message = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
    if parser.pointee.error == YAML_READER_ERROR {
      // The reader knows only an offset, and stops before any token of that line is seen.
      return YAMLError(
        "\(message) at byte \(parser.pointee.problem_offset)", at: Mark(parser.pointee.mark))
    }
    return YAMLError(message, at: Mark(parser.pointee.problem_mark))
  }
}

extension Mark {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }
}
