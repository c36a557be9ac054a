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
  public init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
    self = try JSON.parsed(bytes).get()
  }

  /// Reads one JSON value, and nothing else, from UTF-8 bytes.
  ///
  /// - Throws: ``JSONError``, for the same reasons as for a raw buffer.
  public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
    self = try Array(bytes).withUnsafeBytes(JSON.parsed).get()
  }

  private static func parsed(_ bytes: UnsafeRawBufferPointer) -> Result<JSON, JSONError> {
    // The parser recurses, and its own limit on the depth is far higher.
    guard JSON.depth(of: bytes) <= JSON.maximumDepth else {
      return .failure(JSONError("nested deeper than \(JSON.maximumDepth)"))
    }
    var error = json_error_t()
    let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY
    let text = bytes.bindMemory(to: CChar.self).baseAddress
    guard let value = json_loadb(text, bytes.count, Int(flags), &error) else {
      let text = withUnsafeBytes(of: error.text) { text in
        String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
      }
      return .failure(JSONError(text))
    }
    defer { json_release(value) }
    return .success(JSON(value))
  }

  private init(_ value: UnsafeMutablePointer<json_t>) {
    self =
      switch value.pointee.type {
      case JSON_TRUE: .bool(true)
      case JSON_FALSE: .bool(false)
      case JSON_INTEGER: .integer(Int64(json_integer_value(value)))
      case JSON_REAL: .real(json_real_value(value))
      case JSON_STRING: .string(JSON.string(json_string_value(value), json_string_length(value)))
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

  private static func string(_ text: UnsafePointer<CChar>?, _ length: Int) -> String {
    let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : length)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// How deeply arrays and objects are nested. Does not check whether they are well-formed.
  private static func depth(of bytes: UnsafeRawBufferPointer) -> Int {
    var depth = 0
    var deepest = 0
    var inString = false
    var escaped = false
    for byte in bytes {
      if inString {
        if escaped {
          escaped = false
        } else if byte == UInt8(ascii: "\\") {
          escaped = true
        } else if byte == UInt8(ascii: "\"") {
          inString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): inString = true
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
