public import KeyboardModes

/// What a device reports about itself: enough to create another device that looks the same.
public struct DeviceDescription: Hashable, Sendable {
  /// The parameters of an absolute axis; see `struct input_absinfo` in `linux/input.h`.
  public struct Axis: Hashable, Sendable {
    /// The number of the axis.
    public let code: UInt16
    /// `minimum` and `maximum` limit the value. `fuzz` is the threshold of the noise filter, and
    /// `flat` is the dead zone.
    public let minimum, maximum, fuzz, flat: Int32
    /// Units per millimetre or, for an axis of rotation, per radian.
    public let resolution: Int32

    /// An axis with these parameters.
    public init(
      code: UInt16, minimum: Int32, maximum: Int32, fuzz: Int32, flat: Int32, resolution: Int32
    ) {
      (self.code, self.minimum, self.maximum) = (code, minimum, maximum)
      (self.fuzz, self.flat, self.resolution) = (fuzz, flat, resolution)
    }
  }

  /// A type of event that a device can send.
  public struct EventType: Hashable, Sendable {
    /// Its number, an `EV_*` of `linux/input-event-codes.h`.
    public let number: UInt16
    /// The codes of this type that the device has.
    public let codes: [UInt16]

    /// The type with this number and these codes.
    public init(number: UInt16, codes: [UInt16]) {
      (self.number, self.codes) = (number, codes)
    }
  }

  /// The name that the device reports.
  public var name: String
  /// The path of the device's node, such as `/dev/input/event3`.
  public var node: String
  /// The bus of the device, a `BUS_*` of `linux/input.h`.
  public var bus: UInt16
  /// The device's numbers in `struct input_id` of `linux/input.h`.
  public var vendor, product, version: UInt16
  /// The device's properties, `INPUT_PROP_*` of `linux/input-event-codes.h`, in ascending order.
  public var properties: [UInt16] = []
  /// The types of event that the device can send. Types and codes are in ascending order.
  public var types: [EventType] = []
  /// The device's absolute axes, in ascending order of their codes.
  public var axes: [Axis] = []

  /// The description of a device without any events.
  public init(
    name: String, node: String, bus: UInt16, vendor: UInt16, product: UInt16, version: UInt16
  ) {
    (self.name, self.node, self.bus) = (name, node, bus)
    (self.vendor, self.product, self.version) = (vendor, product, version)
  }

  /// The device's keys and buttons: the codes of `EV_KEY`, which is type 1.
  public var keys: KeySet {
    KeySet((types.first { $0.number == 1 }?.codes ?? []).compactMap { KeyCode($0) })
  }
}
