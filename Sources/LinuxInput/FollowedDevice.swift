import Evdev
import Glibc
import KeyboardModes
import Systemd

/// A device that is open, and the loop's source for it.
struct FollowedDevice {
  let id: DeviceID
  let device: InputDevice
  let kind: DeviceKind
  let role: DeviceRole
  /// The number of the device node, which stays the same by whatever path it is reached.
  let number: dev_t
  let source: UrgentSource
  let leds: DeviceLEDs

  /// Whether the last read may have left events unread.
  var hasMore = false
}
