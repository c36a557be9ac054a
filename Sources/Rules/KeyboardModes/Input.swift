extension Controller {
  /// An input of the controller.
  public enum Input: Hashable, Sendable {
    /// A device was opened while these keys were down. The controller did not see their presses and
    /// sends no events for them, but modifiers among them count as held.
    case opened(DeviceID, held: [KeyCode])
    /// A key of a device was pressed, released or repeated.
    case key(DeviceID, KeyEvent)
    /// The kernel says that this key is up; a grab hid its release. This acts like a release, but
    /// comes before all other inputs of its time, so recordings mark it.
    case missedRelease(DeviceID, KeyCode, at: Time)
    /// Events of a device were lost, and these keys turned out to have changed. `at` is when the
    /// loss was noticed; the real times of the changes are unknown.
    case synchronized(DeviceID, [KeyDifference], at: Time)
    /// A device went away; `at` is when this was noticed. Only the keys of this device go up.
    case gone(DeviceID, at: Time)
    /// Every device that is present at the start has been opened. The releases that the previous
    /// daemon awaited take effect now, except for keys that a device holds.
    case allOpened(at: Time)
    /// A device reported which of its lock LEDs are on, or the kernel was asked. Without a time,
    /// the device is being opened; the report takes effect with the next input that has a time.
    case leds(DeviceID, LEDReport, at: Time?)
    /// A program sent an event.
    case client(ClientEvent, at: Time)
    /// These settings replace the previous ones. States and held keys stay as they are; a press of
    /// Shift that could still become a tap is forgotten. A machine whose new table lacks its state
    /// changes to its initial state by the event ``Change/configured``.
    ///
    /// This case is indirect because it is large and rare among many stored inputs.
    indirect case configured(Settings, at: Time)

    /// The device of this input; `nil` if the input has none.
    public var device: DeviceID? {
      switch self {
      case .opened(let device, _), .key(let device, _), .missedRelease(let device, _, _),
        .synchronized(let device, _, _), .gone(let device, _), .leds(let device, _, _):
        device
      case .allOpened, .client, .configured: nil
      }
    }

    /// The time of the input; `nil` while the device is being opened.
    public var time: Time? {
      switch self {
      case .key(_, let event): event.time
      case .missedRelease(_, _, let time), .synchronized(_, _, let time), .gone(_, let time),
        .allOpened(let time), .client(_, let time), .configured(_, let time):
        time
      case .leds(_, _, let time): time
      case .opened: nil
      }
    }

    /// Whether `key` of `device` may be up after this input.
    public func mayRelease(_ key: KeyCode, on device: DeviceID) -> Bool {
      switch self {
      case .key(device, let event): event.key == key && event.action == .release
      case .missedRelease(device, key, _): true
      case .opened(device, _), .synchronized(device, _, _), .gone(device, _): true
      case .opened, .key, .missedRelease, .synchronized, .gone, .allOpened, .leds, .client,
        .configured:
        false
      }
    }
  }
}

/// The inputs that a source hands over together, and the time that it has reached.
public struct Batch: Sendable {
  /// The inputs, in the order in which they take effect.
  public var inputs: [Controller.Input]

  /// The time up to which the source has handed over everything that it had. An input that the
  /// daemon adds at this time, such as a program's event, comes before all inputs of later batches.
  public var reached: Time

  /// The earliest time that a later input can have. Everything due by this time can happen now,
  /// because it comes before an input of the same time. This time can be before ``reached``: the
  /// kernel may hand over a key event some time after stamping it; see `Keyboards.maxLateness`.
  public var noInputBefore: Time

  /// A batch of these inputs; by default empty, at time zero.
  public init(
    _ inputs: [Controller.Input] = [], reached: Time = Time(microseconds: 0),
    noInputBefore: Time = Time(microseconds: .min)
  ) {
    (self.inputs, self.reached, self.noInputBefore) = (inputs, reached, noInputBefore)
  }
}
