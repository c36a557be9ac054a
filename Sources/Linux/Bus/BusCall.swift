public import Terminal

/// A call of a method.
public struct BusCall: Hashable, Sendable {
  /// The name of the program that is called; `nil` on a connection without a bus in between.
  let destination: String?
  let path: String
  let interface: String
  let member: String
  var arguments: [BusValue]

  /// A call of `member`, of `interface`, on the object at `path`.
  public init(
    to destination: String?, path: String, interface: String, member: String,
    _ arguments: [BusValue] = []
  ) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }
}

/// Which signals to receive.
public struct BusMatch: Sendable {
  /// The rule, as the bus reads it.
  let rule: String

  /// Signals `member` of `interface`. What is `nil` may be anything. Names and paths of D-Bus have
  /// no apostrophe, which would end a value of the rule.
  ///
  /// - Parameters:
  ///   - sender: the name of the program that sends the signal.
  ///   - path: the path of the object.
  ///   - firstArgument: the signal's first argument, which must be a string.
  public init(
    sender: String? = nil, path: String? = nil, interface: String, member: String,
    firstArgument: String? = nil
  ) {
    let parts = [
      ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface),
      ("member", member), ("arg0", firstArgument),
    ]
    let given = parts.compactMap { key, value in value.map { "\(key)='\($0)'" } }
    rule = given.joined(separator: ",")
  }
}

/// Why a call failed.
public struct BusError: Error, Hashable, TerminalTextConvertible {
  /// D-Bus's name of the error, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
  public let name: String
  /// The message of the program that was called.
  let message: String

  /// The error of this name.
  public init(name: String, message: String) { (self.name, self.message) = (name, message) }

  /// The message for the user.
  public var text: TerminalText { "\(message.isEmpty ? name : message)" }
}
