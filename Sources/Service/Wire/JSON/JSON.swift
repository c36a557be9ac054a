/// A JSON value (RFC 8259). The members of an object keep their order.
public indirect enum JSON: Hashable, Sendable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A number without fraction or exponent that fits 64 bits.
  case integer(Int64)
  /// Any other number.
  case real(Double)
  /// Text.
  case string(String)
  /// A list of values.
  case array([JSON])
  /// Names and their values.
  case object([Member])

  /// A member of an object: a name and its value.
  public struct Member: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: JSON

    /// The member with this name and this value.
    public init(_ name: String, _ value: JSON) { (self.name, self.value) = (name, value) }
  }

  /// The value of the member with this name; `nil` unless this is an object with such a member.
  public subscript(_ name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The members in their order, if the value is an object.
  public var members: [Member]? { if case .object(let value) = self { value } else { nil } }

  /// The text, if the value is text.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The number, if the value is an integer.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

  /// The truth value, if the value is `true` or `false`.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The elements, if the value is a list.
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }

  /// The elements, each read by `element`; `nil` unless this is a list whose elements can be read.
  public func elements<Element>(_ element: (JSON) -> Element?) -> [Element]? {
    guard let array else { return nil }
    let elements = array.compactMap(element)
    return elements.count == array.count ? elements : nil
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A list.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// An object.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
  /// `null`
  public init(nilLiteral: ()) { self = .null }
}
