extension Controller {
  /// An input of the controller.
  public enum Input: Hashable, Sendable {
    /// A device was opened while these keys were down. The controller did not see their presses and
    /// sends no events for them, but modifiers among them count as held.
    case opened(DeviceID, held: [KeyCode])
    /// A key of a device was pressed, released or repeated.
    case key(DeviceID, KeyEvent)
    /// Events of a device were lost, and these keys turned out to have changed. `at` is when the
    /// loss was noticed; the real times of the changes are unknown.
    case synchronized(DeviceID, [KeyDifference], at: Time)
    /// A device went away; `at` is when that was noticed. Only its own held keys are released.
    case gone(DeviceID, at: Time)
    /// All devices that are present at the start are open: a key that another daemon knew to be down,
    /// and that none of them holds, is up.
    case allOpened(at: Time)
    /// A program sent an event.
    case client(ClientEvent, at: Time)
    /// These settings replace the previous ones. States and held keys stay as they are; a press of
    /// Shift that could still become a tap is forgotten. If the new table lacks the keyboard
    /// machine's state, that machine changes to its initial state by the event
    /// ``Change/configured``.
    ///
    /// This case is indirect because it is large and rare among many stored inputs.
    indirect case configured(Settings, at: Time)

    /// The device of this input; `nil` for a client event and for settings.
    public var device: DeviceID? {
      switch self {
      case .opened(let device, _), .key(let device, _), .synchronized(let device, _, _),
        .gone(let device, _):
        device
      case .allOpened, .client, .configured: nil
      }
    }

    /// Whether `key` of `device` may be up after this input.
    public func mayRelease(_ key: KeyCode, on device: DeviceID) -> Bool {
      switch self {
      case .key(device, let event): event.key == key && event.action == .release
      case .opened(device, _), .synchronized(device, _, _), .gone(device, _): true
      case .opened, .key, .synchronized, .gone, .allOpened, .client, .configured: false
      }
    }
  }
}
