public import KeyboardModes
import Terminal

/// A device that the daemon follows.
public struct DeviceMessage: Hashable, Sendable, JSONWritable {
  /// The name that the device reports.
  public let name: String
  /// The device node, such as `/dev/input/event3`.
  public let node: String
  /// The vendor number, in four hexadecimal digits.
  public let vendor: String
  /// The product number, in four hexadecimal digits.
  public let product: String
  /// Whether the device is a whole keyboard. If not, it is a pointer, or has only some keys.
  public let isKeyboard: Bool
  /// Whether the device is a pointer. Only the buttons of a pointer are followed.
  public let isPointer: Bool

  /// Each parameter sets the property of the same name.
  public init(
    name: String, node: String, vendor: UInt16, product: UInt16, isKeyboard: Bool,
    isPointer: Bool = false
  ) {
    (self.name, self.node) = (name, node)
    (self.isKeyboard, self.isPointer) = (isKeyboard, isPointer)
    self.vendor = padded(vendor, 4, radix: 16, "0")
    self.product = padded(product, 4, radix: 16, "0")
  }

  /// Writes the device as an object. The members have the order of the interface.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("node", node)
      json.member("vendor", vendor)
      json.member("product", product)
      json.member("keyboard", isKeyboard)
      json.member("pointer", isPointer)
    }
  }

  /// Reads a device; `nil` if the value is not a valid device.
  public init?(_ json: JSON) {
    guard let name = json["name"]?.string, let node = json["node"]?.string,
      let vendor = json["vendor"]?.string, let product = json["product"]?.string,
      let isKeyboard = json["keyboard"]?.bool, let isPointer = json["pointer"]?.bool
    else { return nil }
    (self.name, self.node) = (name, node)
    (self.isKeyboard, self.isPointer) = (isKeyboard, isPointer)
    (self.vendor, self.product) = (vendor, product)
  }
}

/// The type `Hold` of the interface.
extension LongHold: JSONWritable {
  /// Writes the hold as an object. The members have the order of the interface.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("device", device)
      json.member("kind", isButton ? "button" : "modifier")
      json.member("since", since)
    }
  }

  /// Reads a hold; `nil` if the value is not a valid hold.
  public init?(_ json: JSON) {
    guard let device = json["device"]?.string, let kind = json["kind"]?.string,
      let since = json["since"].flatMap(Time.init)
    else { return nil }
    self.init(device: device, isButton: kind == "button", since: since)
  }
}

/// Statistics of the daemon. None of them counts keys. A key that changes no state changes no
/// statistic, unless it is held for a minute.
public struct StatisticsMessage: Hashable, Sendable, JSONWritable {
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
  /// How many devices that should be followed cannot be opened; `nil` while a recording is played.
  public let unopened: Int?
  /// How often the kernel dropped events of a device.
  public let losses: Int
  /// How often the daemon reloaded its configuration, refused reloads included.
  public let reloads: Int
  /// Which configuration is in force: `current`, `lastGood` or `defaults`; `nil` if the daemon is
  /// too old to report it.
  public let configuration: String?
  /// The modifiers and pointer buttons that have been held for a minute.
  public let held: [LongHold]

  /// Each parameter sets the property of the same name.
  public init(
    started: Time, time: Time, changes: Int64, clients: Int, missed: Int, devices: Int,
    unopened: Int? = 0, losses: Int, reloads: Int, configuration: String?, held: [LongHold] = []
  ) {
    (self.started, self.time, self.changes, self.clients) = (started, time, changes, clients)
    (self.missed, self.devices, self.unopened, self.losses) = (missed, devices, unopened, losses)
    (self.reloads, self.configuration, self.held) = (reloads, configuration, held)
  }

  /// Writes the reply's parameters.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("started", started)
      json.member("time", time)
      json.member("changes", changes)
      json.member("clients", Int64(clients))
      json.member("missed", Int64(missed))
      json.member("devices", Int64(devices))
      json.member("unopened", unopened.map { Int64($0) })
      json.member("losses", Int64(losses))
      json.member("reloads", Int64(reloads))
      if let configuration { json.member("configuration", configuration) }
      json.name("held")
      json.open("[")
      for hold in held { hold.write(to: &json) }
      json.close("]")
    }
  }

  /// Reads a reply's parameters; `nil` if they are not valid statistics.
  public init?(_ json: JSON) {
    guard let started = json["started"].flatMap(Time.init),
      let time = json["time"].flatMap(Time.init),
      let changes = json["changes"]?.integer, let clients = json["clients"]?.integer,
      let missed = json["missed"]?.integer, let devices = json["devices"]?.integer,
      let losses = json["losses"]?.integer, let reloads = json["reloads"]?.integer
    else { return nil }
    self.init(
      started: started, time: time, changes: changes,
      clients: Int(clamping: clients), missed: Int(clamping: missed),
      devices: Int(clamping: devices),
      // An old daemon does not send this. It counts as 0: `nil` would mean a recording.
      unopened: json["unopened"].map { $0.integer.map { Int(clamping: $0) } } ?? 0,
      losses: Int(clamping: losses),
      reloads: Int(clamping: reloads), configuration: json["configuration"]?.string,
      held: json["held"]?.elements(LongHold.init) ?? [])
  }
}
