import Evdev
import KeyboardModes

/// The devices that are recorded, in the order in which they were opened.
struct RecordedDevices {
  private var ids: [DeviceID] = []
  /// The description of each device, also of those that are gone.
  private(set) var descriptions: [DeviceDescription] = []
  /// Whether no device was lost.
  private(set) var areComplete = true

  mutating func add(_ id: DeviceID, _ description: DeviceDescription) {
    ids.append(id)
    descriptions.append(description)
  }

  /// Takes a device out, as if it had not been added.
  mutating func remove(_ id: DeviceID) {
    guard let index = index(of: id) else { return }
    ids.remove(at: index)
    descriptions.remove(at: index)
  }

  /// Remembers that a device was lost.
  mutating func lose() { areComplete = false }

  /// The index of a device in ``descriptions``.
  func index(of id: DeviceID) -> Int? { ids.firstIndex(of: id) }
}
