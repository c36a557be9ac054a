/// A value that can be written as JSON.
public protocol JSONWritable {
  /// Writes the value, and nothing else.
  func write(to json: inout JSONWriter)
}

extension JSONWritable {
  /// Appends the value as compact JSON.
  public func write(to bytes: inout [UInt8]) { bytes.appendJSON { write(to: &$0) } }
}

extension Int64: JSONWritable {
  /// Writes the number.
  public func write(to json: inout JSONWriter) { json.number(self) }
}

extension String: JSONWritable {
  /// Writes the text in quotes.
  public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONWritable {
  /// Writes `true` or `false`.
  public func write(to json: inout JSONWriter) { json.literal(self ? "true" : "false") }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
  /// Writes the value, or `null`.
  public func write(to json: inout JSONWriter) {
    if let self { self.write(to: &json) } else { json.literal("null") }
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  /// Writes the elements in their order.
  public func write(to json: inout JSONWriter) {
    json.open("[")
    for element in self { element.write(to: &json) }
    json.close("]")
  }
}

extension JSON: JSONWritable {
  /// Writes the value.
  public func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.literal("null")
    case .bool(let value): value.write(to: &json)
    case .integer(let value): value.write(to: &json)
    case .real(let value): json.number(value)
    case .string(let value): value.write(to: &json)
    case .array(let values): values.write(to: &json)
    case .object(let members):
      json.object { json in
        for member in members { json.member(escaping: member.name, member.value) }
      }
    }
  }

  /// The value as compact JSON.
  public var text: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
