import Evdev
import KeyboardModes

/// The devices that are recorded, in the order in which they were opened.
struct RecordedDevices {
  private var ids: [DeviceID] = []
  /// The description of each device, also of those that are gone.
  private(set) var descriptions: [DeviceDescription] = []
  /// How many devices are still read.
  private(set) var present = 0

  /// Whether no device was lost.
  var areComplete: Bool { present == ids.count }

  mutating func add(_ id: DeviceID, _ description: DeviceDescription) {
    ids.append(id)
    descriptions.append(description)
    present += 1
  }

  /// Counts a device as lost.
  mutating func lose() { present -= 1 }

  /// The index of a device in ``descriptions``.
  func index(of id: DeviceID) -> Int? { ids.firstIndex(of: id) }
}
