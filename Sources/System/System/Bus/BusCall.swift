/// A call of a method.
public struct BusCall: Hashable, Sendable {
  /// The bus name of the program that is called; `nil` on a connection without a bus in between.
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

  /// A call that asks for all properties of an interface. The answer is one dictionary.
  static func getAll(
    of interface: String, at path: String, from destination: String
  ) -> BusCall {
    BusCall(
      to: destination, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll",
      [.string(interface)])
  }

  /// A call that asks the bus which connection owns a name.
  static func owner(of name: String) -> BusCall {
    let bus = "org.freedesktop.DBus"
    return BusCall(
      to: bus, path: "/org/freedesktop/DBus", interface: bus, member: "GetNameOwner",
      [.string(name)])
  }
}

/// Why a call failed.
public struct BusError: Error, Hashable, CustomStringConvertible {
  /// D-Bus's name of the error, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
  public let name: String
  /// The message of the program that was called.
  let message: String

  /// An error with this D-Bus name and this message.
  public init(name: String, message: String) { (self.name, self.message) = (name, message) }

  /// The message for the user.
  public var description: String { message.isEmpty ? name : message }
}
