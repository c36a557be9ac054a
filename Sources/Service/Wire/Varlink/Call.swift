/// One method call, as a client sends it.
public struct Call: Hashable, Sendable {
  /// The interface and the name of the method, such as `org.varlink.service.GetInfo`.
  public let method: String
  /// The parameters by name.
  public let parameters: [JSON.Member]
  /// Whether the client wants more than one reply.
  public let wantsMore: Bool
  /// Whether the client wants no reply at all.
  public let isOneway: Bool

  /// A call of `method`. Each other parameter sets the property of the same name.
  public init(
    _ method: String, _ parameters: [JSON.Member] = [], wantsMore: Bool = false,
    isOneway: Bool = false
  ) {
    (self.method, self.parameters) = (method, parameters)
    (self.wantsMore, self.isOneway) = (wantsMore, isOneway)
  }

  /// Why a message is not a valid call.
  public enum ParsingError: Error, Hashable {
    /// The message is not a JSON object. Varlink has no error for that.
    case notJSON
    /// This member is missing, has the wrong type, or is an `upgrade`, which is not supported.
    case invalidMember(String)
  }

  /// Reads a message, without its NUL. Throws ``ParsingError`` if it is not a valid call.
  public init(parsing message: [UInt8]) throws(ParsingError) {
    let value: JSON
    do { value = try JSON(parsing: message) } catch { throw .notJSON }
    guard case .object = value else { throw .notJSON }
    guard let method = value["method"]?.string else { throw .invalidMember("method") }
    self.method = method
    switch value["parameters"] {
    case nil, .null: parameters = []
    case .object(let members): parameters = members
    default: throw .invalidMember("parameters")
    }
    wantsMore = try Call.flag("more", of: value)
    isOneway = try Call.flag("oneway", of: value)
    // An upgrade switches the connection to another protocol, and no other is supported.
    guard try !Call.flag("upgrade", of: value) else { throw .invalidMember("upgrade") }
  }

  private static func flag(_ name: String, of value: JSON) throws(ParsingError) -> Bool {
    switch value[name] {
    case nil, .null: return false
    case .bool(let flag): return flag
    default: throw .invalidMember(name)
    }
  }

  /// The call as a client sends it, NUL included.
  public var message: [UInt8] {
    varlinkMessage { json in
      json.member("method", method)
      if !parameters.isEmpty { json.member("parameters", JSON.object(parameters)) }
      if wantsMore { json.member("more", true) }
      if isOneway { json.member("oneway", true) }
    }
  }
}

/// One answer to a call.
public struct Reply: Hashable, Sendable {
  /// The name of an error, or `nil` if the call succeeded.
  public let error: String?
  /// The results of the method, or the parameters of the error.
  public let parameters: JSON
  /// Whether another reply to the same call will follow.
  public let continues: Bool

  /// A success with these results, or a failure with an error's full name and parameters.
  public init(_ parameters: JSON = [:], error: String? = nil, continues: Bool = false) {
    (self.error, self.parameters, self.continues) = (error, parameters, continues)
  }

  /// The failure with this error.
  public init(_ error: VarlinkError) { self.init(error.parameters, error: error.name) }

  /// Reads a message, without its NUL. Throws a ``JSONError`` if it is not a JSON object.
  public init(parsing message: [UInt8]) throws(JSONError) {
    let value = try JSON(parsing: message)
    guard case .object = value else { throw JSONError("not an object") }
    error = value["error"]?.string
    parameters = value["parameters"] ?? [:]
    continues = value["continues"]?.bool ?? false
  }

  /// The reply as a server sends it, NUL included.
  public var message: [UInt8] {
    Reply.message(parameters, error: error, continues: continues)
  }

  /// The reply with these results, or with this error, as a server sends it, NUL included.
  public static func message(
    _ parameters: some JSONWritable, error: String? = nil, continues: Bool = false
  ) -> [UInt8] {
    varlinkMessage { json in
      if let error { json.member("error", error) }
      json.member("parameters", parameters)
      if continues { json.member("continues", true) }
    }
  }

  /// A success with one result, `{"name": value}`, NUL included.
  public static func message(_ name: StaticString, _ value: some JSONWritable) -> [UInt8] {
    varlinkMessage { json in
      json.name("parameters")
      json.object { $0.member(name, value) }
    }
  }

  /// Writes the beginning of a success that another reply will follow. The caller then writes the
  /// results, calls ``endContinuing(_:)``, and appends the NUL that ends each message.
  public static func startContinuing(_ json: inout JSONWriter) {
    json.open("{")
    json.name("parameters")
  }

  /// Writes the end of a reply begun with ``startContinuing(_:)``, without the NUL.
  public static func endContinuing(_ json: inout JSONWriter) {
    json.member("continues", true)
    json.close("}")
  }
}

/// A message with these members, NUL included.
private func varlinkMessage(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.appendJSON { $0.object(members) }
  bytes.append(0)
  return bytes
}

/// The errors of the interface `org.varlink.service` that this service can reply with.
public enum VarlinkError: Error, Hashable {
  /// The service does not have this interface.
  case interfaceNotFound(String)
  /// The interface has no such method.
  case methodNotFound(String)
  /// This parameter is missing, unknown, of the wrong type or out of range.
  case invalidParameter(String)
  /// The client may not call this method.
  case permissionDenied
  /// The method replies more than once, and the call did not ask for that.
  case expectedMore

  /// The full name of the error.
  public var name: String {
    switch self {
    case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
    case .methodNotFound: "org.varlink.service.MethodNotFound"
    case .invalidParameter: "org.varlink.service.InvalidParameter"
    case .permissionDenied: "org.varlink.service.PermissionDenied"
    case .expectedMore: "org.varlink.service.ExpectedMore"
    }
  }

  /// An error repeats at most this many bytes of a name that the caller chose.
  public static let maxNameBytes = 256

  /// The parameters of the error. Names are truncated to ``maxNameBytes`` bytes: a client that does not
  /// read must not choose how much memory its reply takes.
  public var parameters: JSON {
    switch self {
    case .interfaceNotFound(let interface): ["interface": Self.truncated(interface)]
    case .methodNotFound(let method): ["method": Self.truncated(method)]
    case .invalidParameter(let parameter): ["parameter": Self.truncated(parameter)]
    case .permissionDenied, .expectedMore: [:]
    }
  }

  private static func truncated(_ name: String) -> JSON {
    guard name.utf8.count > maxNameBytes else { return .string(name) }
    let characters = name.unicodeScalars
    var end = name.utf8.index(name.startIndex, offsetBy: maxNameBytes)
    // Cuts between two scalars, so that the result is valid UTF-8.
    while end.samePosition(in: characters) == nil { end = name.utf8.index(before: end) }
    return .string(String(name[..<end]))
  }
}
