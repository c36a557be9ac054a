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
  public static let maximumDepth = 16

  /// Reads one JSON value, and nothing else, from UTF-8 bytes.
  ///
  /// - Throws: ``JSONError`` if the bytes are not JSON, are nested deeper than ``maximumDepth``,
  ///   name a member of an object twice, or hold a number beyond 64 bits or the character NUL.
  public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
    let bytes = Array(bytes)
    // The parser recurses, and its own limit on the depth is far higher.
    guard JSON.depth(of: bytes) <= JSON.maximumDepth else {
      throw JSONError("nested deeper than \(JSON.maximumDepth)")
    }
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
    self.init(value)
  }

  private init(_ value: UnsafeMutablePointer<json_t>) {
    self =
      switch value.pointee.type {
      case JSON_TRUE: .bool(true)
      case JSON_FALSE: .bool(false)
      case JSON_INTEGER: .integer(Int64(json_integer_value(value)))
      case JSON_REAL: .real(json_real_value(value))
      case JSON_STRING: .string(String(cString: json_string_value(value)))
      case JSON_ARRAY:
        .array((0..<json_array_size(value)).compactMap { json_array_get(value, $0).map(JSON.init) })
      case JSON_OBJECT: .object(JSON.members(of: value))
      default: .null
      }
  }

  private static func members(of object: UnsafeMutablePointer<json_t>) -> [Member] {
    var members: [Member] = []
    var iterator = json_object_iter(object)
    while let current = iterator {
      if let name = json_object_iter_key(current), let value = json_object_iter_value(current) {
        members.append(Member(String(cString: name), JSON(value)))
      }
      iterator = json_object_iter_next(object, current)
    }
    return members
  }

  /// How deeply arrays and objects are nested. Does not check whether they are well-formed.
  private static func depth(of bytes: [UInt8]) -> Int {
    var depth = 0
    var deepest = 0
    var inString = false
    var isEscaped = false
    for byte in bytes {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = inString
      case UInt8(ascii: "\""): inString.toggle()
      case _ where inString: break
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        deepest = max(deepest, depth)
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return deepest
  }
}
