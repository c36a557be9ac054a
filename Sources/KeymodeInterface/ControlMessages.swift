public import JSON
public import KeyboardModes

/// A device that the daemon follows.
public struct DeviceMessage: Hashable, Sendable {
  /// The name that the device reports.
  public let name: String
  /// The device node, such as `/dev/input/event3`.
  public let node: String
  /// The vendor number, in four hexadecimal digits.
  public let vendor: String
  /// The product number, in four hexadecimal digits.
  public let product: String
  /// Whether it is a whole keyboard, or only has a key that is bound.
  public let isKeyboard: Bool

  /// The device with these names and numbers.
  public init(
    name: String, node: String, vendor: UInt16, product: UInt16, isKeyboard: Bool
  ) {
    self.name = name
    self.node = node
    self.vendor = DeviceMessage.digits(vendor)
    self.product = DeviceMessage.digits(product)
    self.isKeyboard = isKeyboard
  }

  private static func digits(_ number: UInt16) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 4 - text.count) + text
  }

  /// The device as JSON, members in the order of the interface.
  public var json: JSON {
    [
      "name": .string(name), "node": .string(node), "vendor": .string(vendor),
      "product": .string(product), "keyboard": .bool(isKeyboard),
    ]
  }

  /// Reads a device; `nil` if the value is not a valid device.
  public init?(_ json: JSON) {
    guard let name = json["name"]?.string, let node = json["node"]?.string,
      let vendor = json["vendor"]?.string, let product = json["product"]?.string,
      let isKeyboard = json["keyboard"]?.bool
    else { return nil }
    self.name = name
    self.node = node
    self.vendor = vendor
    self.product = product
    self.isKeyboard = isKeyboard
  }
}

/// Statistics of the daemon. None of them counts keys, or changes with a key that changes no state.
public struct StatisticsMessage: Hashable, Sendable {
  /// When the daemon was started, on `CLOCK_BOOTTIME`.
  public let started: Time
  /// When the daemon replied, on the same clock.
  public let time: Time
  /// How many changes there were since `started`.
  public let changes: Int64
  /// How many clients are connected.
  public let clients: Int
  /// How often the daemon reported missed changes to a client.
  public let missed: Int
  /// How many devices are followed.
  public let devices: Int
  /// How often the kernel dropped events of a device.
  public let losses: Int
  /// How often the daemon reloaded its configuration, refused reloads included.
  public let reloads: Int
  /// Which configuration is in force: `current`, `lastGood` or `defaults`; `nil` if the daemon is
  /// too old to report it.
  public let configuration: String?

  /// The statistics with these numbers.
  public init(
    started: Time, time: Time, changes: Int64, clients: Int, missed: Int, devices: Int,
    losses: Int, reloads: Int, configuration: String?
  ) {
    self.started = started
    self.time = time
    self.changes = changes
    self.clients = clients
    self.missed = missed
    self.devices = devices
    self.losses = losses
    self.reloads = reloads
    self.configuration = configuration
  }

  /// The reply's parameters.
  public var json: JSON {
    var members: [JSON.Member] = [
      .init("started", .integer(started.microseconds)), .init("time", .integer(time.microseconds)),
      .init("changes", .integer(changes)), .init("clients", .integer(Int64(clients))),
      .init("missed", .integer(Int64(missed))), .init("devices", .integer(Int64(devices))),
      .init("losses", .integer(Int64(losses))), .init("reloads", .integer(Int64(reloads))),
    ]
    if let configuration { members.append(.init("configuration", .string(configuration))) }
    return .object(members)
  }

  /// Reads a reply's parameters; `nil` if they are not valid statistics.
  public init?(_ json: JSON) {
    guard let started = json["started"]?.integer, let time = json["time"]?.integer,
      let changes = json["changes"]?.integer, let clients = json["clients"]?.integer,
      let missed = json["missed"]?.integer, let devices = json["devices"]?.integer,
      let losses = json["losses"]?.integer, let reloads = json["reloads"]?.integer
    else { return nil }
    self.init(
      started: Time(microseconds: started), time: Time(microseconds: time), changes: changes,
      clients: Int(clamping: clients), missed: Int(clamping: missed),
      devices: Int(clamping: devices), losses: Int(clamping: losses),
      reloads: Int(clamping: reloads), configuration: json["configuration"]?.string)
  }
}
