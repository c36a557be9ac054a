public import SystemCalls

/// A call of a method.
public struct BusCall: Hashable, Sendable {
  /// The name of the program that is called; `nil` on a connection without a bus in between.
  public let destination: String?
  /// The path of the object.
  public let path: String
  /// The interface that has the method.
  public let interface: String
  /// The name of the method.
  public let member: String
  /// What the method is called with.
  public var arguments: [BusValue]

  /// A call of `member`, of `interface`, on the object at `path`.
  public init(
    to destination: String?, path: String, interface: String, member: String,
    _ arguments: BusValue...
  ) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }

  private static let properties = "org.freedesktop.DBus.Properties"

  /// A call that asks for a property. The answer has the value as its only element.
  public static func get(
    _ property: String, of interface: String, at path: String, from destination: String?
  ) -> BusCall {
    BusCall(
      to: destination, path: path, interface: properties, member: "Get",
      .string(interface), .string(property))
  }

  /// A call that asks for all properties of an interface. The answer has a dictionary.
  public static func getAll(
    of interface: String, at path: String, from destination: String?
  ) -> BusCall {
    BusCall(
      to: destination, path: path, interface: properties, member: "GetAll", .string(interface))
  }

  /// A call that sets a property.
  public static func set(
    _ property: String, of interface: String, at path: String, from destination: String?,
    to value: BusValue
  ) -> BusCall {
    BusCall(
      to: destination, path: path, interface: properties, member: "Set",
      .string(interface), .string(property), .variant(value))
  }
}

/// Which signals to receive. What is `nil` may be anything. Names and paths of D-Bus have no
/// apostrophe, which would end a value of the rule.
public struct BusMatch: Hashable, Sendable {
  /// The name of the program that sends the signal.
  public let sender: String?
  /// The path of the object.
  public let path: String?
  /// The interface that has the signal.
  public let interface: String
  /// The name of the signal.
  public let member: String
  /// The signal's first argument, if that is a string.
  public let firstArgument: String?

  /// Signals `member` of `interface`.
  public init(
    sender: String? = nil, path: String? = nil, interface: String, member: String,
    firstArgument: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.firstArgument = firstArgument
  }

  /// The changes of properties of an interface. The signal has the interface's name, a dictionary of
  /// the changed properties, and the names of those whose values are not told.
  public static func changes(
    of interface: String, at path: String?, from sender: String? = nil
  ) -> BusMatch {
    BusMatch(
      sender: sender, path: path, interface: "org.freedesktop.DBus.Properties",
      member: "PropertiesChanged", firstArgument: interface)
  }

  /// The rule, as the bus reads it.
  var rule: String {
    let parts: [(key: String, value: String?)] = [
      ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface),
      ("member", member), ("arg0", firstArgument),
    ]
    let given = parts.compactMap { part in part.value.map { "\(part.key)='\($0)'" } }
    return given.joined(separator: ",")
  }
}

/// A received signal.
public struct BusSignal: Hashable, Sendable {
  /// The unique name of the program that sent it; `nil` on a connection without a bus in between.
  public let sender: String?
  /// The path of the object.
  public let path: String
  /// The name of the signal.
  public let member: String
  /// What the signal tells.
  public let arguments: [BusValue]
}

/// Why a call failed.
public struct BusError: Error, Hashable, TerminalTextConvertible {
  /// D-Bus's name of the error, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
  public let name: String
  /// The message of the program that was called.
  public let message: String

  /// The error of this name.
  public init(name: String, message: String) { (self.name, self.message) = (name, message) }

  /// The message for the user.
  public var text: TerminalText { "\(message.isEmpty ? name : message)" }

  /// Whether no program has the name that was called, and none can be started for it.
  public var isServiceUnknown: Bool {
    [
      "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
    ].contains(name)
  }
}
