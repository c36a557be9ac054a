public import JSON
public import KeyboardModes

/// A device that the daemon follows.
public struct DeviceMessage: Hashable, Sendable {
  /// The name by which it calls itself.
  public let name: String
  /// Where it is, such as `/dev/input/event3`.
  public let node: String
  /// The number of its maker, in four hexadecimal digits.
  public let vendor: String
  /// The number by which its maker tells it from others, likewise.
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

  /// The device as the interface has it.
  public var json: JSON {
    [
      "name": .string(name), "node": .string(node), "vendor": .string(vendor),
      "product": .string(product), "keyboard": .bool(isKeyboard),
    ]
  }

  /// Reads a device; `nil` where the value is none.
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

/// How much the daemon has done. Nothing in it counts keys, or moves with one that changes no state.
public struct StatisticsMessage: Hashable, Sendable {
  /// When the daemon was started, on `CLOCK_BOOTTIME`.
  public let started: Time
  /// When this was said, on the same clock.
  public let time: Time
  /// How many changes there were since.
  public let changes: Int64
  /// How many clients are connected.
  public let clients: Int
  /// How often a client was told that it had missed changes.
  public let missed: Int
  /// How many devices are followed.
  public let devices: Int
  /// How often the kernel had to drop events of a device.
  public let losses: Int
  /// How often the configuration was read again.
  public let reloads: Int
  /// Which configuration is in force: `current`, `lastGood` or `defaults`; `nil` where the daemon is
  /// older than that and does not say.
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

  /// Reads a reply's parameters; `nil` where they are none.
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
