public import KeyboardModes

/// All that a device says of itself: enough to make another one that looks the same.
public struct DeviceDescription: Hashable, Sendable {
  /// What an absolute axis says of itself; see `struct input_absinfo` in `linux/input.h`.
  public struct Axis: Hashable, Sendable {
    /// The number of the axis.
    public let code: UInt16
    /// The smallest and the largest value, filter noise, and the value around which noise is ignored.
    public let minimum, maximum, fuzz, flat: Int32
    /// Units per millimetre, or per radian.
    public let resolution: Int32

    /// The axis with these numbers.
    public init(
      code: UInt16, minimum: Int32, maximum: Int32, fuzz: Int32, flat: Int32, resolution: Int32
    ) {
      self.code = code
      self.minimum = minimum
      self.maximum = maximum
      self.fuzz = fuzz
      self.flat = flat
      self.resolution = resolution
    }
  }

  /// A type of event that a device can send.
  public struct EventType: Hashable, Sendable {
    /// Its number, an `EV_*` of `linux/input-event-codes.h`.
    public let number: UInt16
    /// The codes of this type that the device has.
    public let codes: [UInt16]
    /// The highest code of this type that the kernel knows.
    public let highest: UInt16

    /// The type with this number and these codes.
    public init(number: UInt16, codes: [UInt16], highest: UInt16) {
      self.number = number
      self.codes = codes
      self.highest = highest
    }
  }

  /// The name by which the device calls itself.
  public var name: String
  /// Its node, such as `/dev/input/event3`.
  public var node: String
  /// How it is connected, a `BUS_*` of `linux/input.h`.
  public var bus: UInt16
  /// The numbers by which its maker tells it from others.
  public var vendor, product, version: UInt16
  /// Its properties, `INPUT_PROP_*` of `linux/input-event-codes.h`, in ascending order.
  public var properties: [UInt16] = []
  /// The types of event that it can send, and the codes of each, all in ascending order.
  public var types: [EventType] = []
  /// Its absolute axes.
  public var axes: [Axis] = []
  /// Those of its lights that are on.
  public var lightsOn: Set<UInt16> = []
  /// Those of its switches that are on.
  public var switchesOn: Set<UInt16> = []

  /// The description of a device without any events.
  public init(
    name: String, node: String, bus: UInt16, vendor: UInt16, product: UInt16, version: UInt16
  ) {
    self.name = name
    self.node = node
    self.bus = bus
    self.vendor = vendor
    self.product = product
    self.version = version
  }
}

extension DeviceDescription {
  /// The keys that it has.
  public var keys: KeySet {
    var keys = KeySet()
    for code in types.first(where: { $0.number == 1 })?.codes ?? [] {
      if let key = KeyCode(code) { keys.insert(key) }
    }
    return keys
  }
}
