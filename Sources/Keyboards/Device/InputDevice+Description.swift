import CLibevdev

extension InputDevice {
  /// What the device reports about itself, with LEDs and switches as they were when it was opened.
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
    description.ledsOn = Set(ledsAtOpening.numbers)
    description.switchesOn = codesOn(UInt16(EV_SW))
    return description
  }

  private func eventType(_ type: UInt16) -> DeviceDescription.EventType? {
    let highest = libevdev_event_type_get_max(UInt32(type))
    guard libevdev_has_event_type(device, UInt32(type)) == 1, highest >= 0 else { return nil }
    return .init(number: type, codes: codes(type), highest: UInt16(truncatingIfNeeded: highest))
  }

  private func codes(_ type: UInt16) -> [UInt16] {
    let highest = libevdev_event_type_get_max(UInt32(type))
    guard highest >= 0 else { return [] }
    return (0...UInt16(truncatingIfNeeded: highest)).filter {
      libevdev_has_event_code(device, UInt32(type), UInt32($0)) == 1
    }
  }

  private func codesOn(_ type: UInt16) -> Set<UInt16> {
    Set(codes(type).filter { libevdev_get_event_value(device, UInt32(type), UInt32($0)) != 0 })
  }

  private func axis(_ code: UInt16) -> DeviceDescription.Axis? {
    guard let axis = libevdev_get_abs_info(device, UInt32(code))?.pointee else { return nil }
    return .init(
      code: code, minimum: axis.minimum, maximum: axis.maximum, fuzz: axis.fuzz, flat: axis.flat,
      resolution: axis.resolution)
  }
}
