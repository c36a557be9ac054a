/// A value of D-Bus, with its type.
public indirect enum BusValue: Hashable, Sendable {
  case byte(UInt8)
  case bool(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case objectPath(String)
  case signature(String)
  /// The elements all have the type that the signature names.
  case array(of: String, [BusValue])
  case structure([BusValue])
  /// A key and its value, as an element of an array that is a dictionary.
  case entry(BusValue, BusValue)
  case variant(BusValue)

  /// The type, in D-Bus's notation, such as `a{sv}`.
  public var signature: String {
    switch self {
    case .byte: "y"
    case .bool: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .array(let element, _): "a\(element)"
    case .structure(let members): "(\(members.map(\.signature).joined()))"
    case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
    case .variant: "v"
    }
  }

  /// The text of a string, an object path or a signature; otherwise `nil`.
  public var text: String? {
    switch self {
    case .string(let text), .objectPath(let text), .signature(let text): text
    default: nil
    }
  }

  /// A truth value; otherwise `nil`.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The elements of an array, or the members of a structure; otherwise `nil`.
  public var elements: [BusValue]? {
    switch self {
    case .array(_, let elements), .structure(let elements): elements
    default: nil
    }
  }

  /// The value inside a variant; otherwise the value itself.
  public var content: BusValue { if case .variant(let value) = self { value } else { self } }

  /// The value of a dictionary's key, without its variant; otherwise `nil`.
  public subscript(key: String) -> BusValue? {
    for case .entry(let name, let value) in elements ?? [] where name.text == key {
      return value.content
    }
    return nil
  }
}
