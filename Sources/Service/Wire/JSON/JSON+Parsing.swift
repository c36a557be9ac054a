import CJansson

/// Why bytes are not JSON, or not the JSON value that was expected.
public struct JSONError: Error, Hashable, CustomStringConvertible {
  /// What is wrong, in words.
  public let description: String

  /// The error with this text.
  public init(_ description: String) { self.description = description }
}

extension JSON {
  /// How deeply arrays and objects may be nested in JSON that is read.
  public static let maxDepth = 16

  /// Reads one JSON value, and nothing else, from UTF-8 bytes.
  ///
  /// - Throws: ``JSONError`` if the bytes are not JSON, are nested deeper than ``maxDepth``,
  ///   name a member of an object twice, or hold a number beyond 64 bits or the character NUL.
  public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
    let bytes = Array(bytes)
    var error = json_error_t()
    let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY
    let value = bytes.withUnsafeBytes { bytes in
      json_loadb(bytes.bindMemory(to: CChar.self).baseAddress, bytes.count, Int(flags), &error)
    }
    guard let value else {
      throw withUnsafeBytes(of: error.text) { text in
        JSONError(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
      }
    }
    defer { json_release(value) }
    try self.init(value, depth: 0)
  }

  /// - Parameter depth: how many arrays and objects contain the value.
  private init(_ value: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONError) {
    switch value.pointee.type {
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    case JSON_INTEGER: self = .integer(Int64(json_integer_value(value)))
    case JSON_REAL: self = .real(json_real_value(value))
    case JSON_STRING: self = .string(String(cString: json_string_value(value)))
    case JSON_ARRAY, JSON_OBJECT:
      guard depth < JSON.maxDepth else {
        throw JSONError("nested deeper than \(JSON.maxDepth)")
      }
      self =
        try value.pointee.type == JSON_ARRAY
        ? .array(JSON.elements(of: value, depth + 1)) : .object(JSON.members(of: value, depth + 1))
    default: self = .null
    }
  }

  private static func elements(
    of array: UnsafeMutablePointer<json_t>, _ depth: Int
  ) throws(JSONError) -> [JSON] {
    var elements: [JSON] = []
    for index in 0..<json_array_size(array) {
      if let element = json_array_get(array, index) {
        elements.append(try JSON(element, depth: depth))
      }
    }
    return elements
  }

  private static func members(
    of object: UnsafeMutablePointer<json_t>, _ depth: Int
  ) throws(JSONError) -> [Member] {
    var members: [Member] = []
    var iterator = json_object_iter(object)
    while let current = iterator {
      if let name = json_object_iter_key(current), let value = json_object_iter_value(current) {
        members.append(Member(String(cString: name), try JSON(value, depth: depth)))
      }
      iterator = json_object_iter_next(object, current)
    }
    return members
  }
}
