/// A value of D-Bus. Types that this project does not need are ``other``.
public indirect enum BusValue: Hashable, Sendable {
  case bool(Bool)
  case uint32(UInt32)
  case uint64(UInt64)
  /// A descriptor to pass on; the other side gets a duplicate. A received descriptor is open only
  /// while the answer or signal is handled.
  case descriptor(Int32)
  /// A string or, if received, the path of an object.
  case string(String)
  /// Elements of one type, whose signature is `of`.
  case array(of: String, [BusValue])
  case structure([BusValue])
  /// A key and its value, as an element of an array that is a dictionary.
  case entry(BusValue, BusValue)
  case variant(BusValue)
  /// A received value of another type, which is not read. It cannot be sent.
  case other

  /// The type, in D-Bus's notation, such as `a{sv}`.
  var signature: String {
    switch self {
    case .bool: "b"
    case .uint32: "u"
    case .uint64: "t"
    case .descriptor: "h"
    case .string: "s"
    case .array(let element, _): "a\(element)"
    case .structure(let members): "(\(members.map(\.signature).joined()))"
    case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
    case .variant: "v"
    case .other: ""
    }
  }

  /// The value of a 32-bit number; otherwise `nil`.
  var number: UInt32? { if case .uint32(let value) = self { value } else { nil } }

  /// The text of a string; otherwise `nil`.
  public var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The value of a Boolean; otherwise `nil`.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The elements of an array, or the members of a structure; otherwise `nil`.
  public var elements: [BusValue]? {
    switch self {
    case .array(_, let elements), .structure(let elements): elements
    case .bool, .uint32, .uint64, .descriptor, .string, .entry, .variant, .other: nil
    }
  }

  /// The value of a dictionary's key, taken out of a variant; `nil` if the key is missing.
  subscript(key: String) -> BusValue? {
    for case .entry(let name, let value) in elements ?? [] where name.text == key {
      return if case .variant(let content) = value { content } else { value }
    }
    return nil
  }
}
