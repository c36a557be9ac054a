import CLibevdev

extension InputDevice {
  /// What the device reports about itself.
  public var description: DeviceDescription {
    var description = DeviceDescription(
      name: name, node: path, bus: bus,
      vendor: vendor, product: product,
      version: UInt16(truncatingIfNeeded: libevdev_get_id_version(device)))
    description.properties = (0...UInt16(INPUT_PROP_MAX)).filter {
      libevdev_has_property(device, UInt32($0)) == 1
    }
    description.types = (0...UInt16(EV_MAX)).compactMap(eventType)
    description.axes = codes(UInt16(EV_ABS)).compactMap(axis)
    return description
  }

  private func eventType(_ type: UInt16) -> DeviceDescription.EventType? {
    guard libevdev_has_event_type(device, UInt32(type)) == 1 else { return nil }
    return .init(number: type, codes: codes(type))
  }

  private func codes(_ type: UInt16) -> [UInt16] {
    let highest = libevdev_event_type_get_max(UInt32(type))
    guard highest >= 0 else { return [] }
    return (0...UInt16(truncatingIfNeeded: highest)).filter {
      libevdev_has_event_code(device, UInt32(type), UInt32($0)) == 1
    }
  }

  private func axis(_ code: UInt16) -> DeviceDescription.Axis? {
    guard let axis = libevdev_get_abs_info(device, UInt32(code))?.pointee else { return nil }
    return .init(
      code: code, minimum: axis.minimum, maximum: axis.maximum, fuzz: axis.fuzz, flat: axis.flat,
      resolution: axis.resolution)
  }
}
