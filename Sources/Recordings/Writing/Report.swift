public import KeyboardModes

/// What one device reports at one time; a frame of events, or a note of `keymodectl record`.
public struct Report: Hashable, Sendable {
  /// What a report says.
  public enum Content: Hashable, Sendable {
    /// These keys were down when the device was opened.
    case held([KeyCode])
    /// These LEDs were on or off when the device was opened.
    case ledsAtOpening(LEDReport)
    /// Key events with the same time.
    case keys([KeyEvent])
    /// LEDs went on or off.
    case leds(LEDReport)
    /// The kernel says that the key is up; a grab hid its release.
    case missedRelease(KeyCode)
    /// Events were lost, and then these differences were found.
    case lost([KeyDifference])
    /// The device was removed.
    case gone
  }

  /// The device that reports.
  public let device: DeviceID
  /// The time of all its events.
  public let time: Time
  /// What it says.
  public let content: Content

  /// The reports that `inputs` consist of. Consecutive key events of one device with the same time
  /// are one report, because the kernel gives all events of a report the same time.
  ///
  /// - Parameter now: the time of inputs that have no time of their own.
  public static func reports(of inputs: [Controller.Input], at now: Time) -> [Report] {
    var reports: [Report] = []
    for input in inputs {
      switch input {
      case .opened(let device, let held):
        guard !held.isEmpty else { continue }
        reports.append(Report(device: device, time: now, content: .held(held)))
      case .key(let device, let event):
        var keys = [event]
        if let last = reports.last, last.device == device, last.time == event.time,
          case .keys(let before) = last.content
        {
          keys = before + keys
          reports.removeLast()
        }
        reports.append(Report(device: device, time: event.time, content: .keys(keys)))
      case .missedRelease(let device, let key, let time):
        reports.append(Report(device: device, time: time, content: .missedRelease(key)))
      case .synchronized(let device, let found, let time):
        reports.append(Report(device: device, time: time, content: .lost(found)))
      case .gone(let device, let time):
        reports.append(Report(device: device, time: time, content: .gone))
      case .leds(let device, let leds, let time):
        reports.append(
          Report(
            device: device, time: time ?? now,
            content: time == nil ? .ledsAtOpening(leds) : .leds(leds)))
      case .allOpened, .client, .configured: continue
      }
    }
    return reports
  }

  /// The events of the report, with the `SYN_REPORT` that ends it.
  var events: [InputEvent] {
    let events: [InputEvent] =
      switch content {
      case .keys(let events): events.map { key($0.key, $0.action.rawValue) }
      case .missedRelease(let key): [self.key(key, 0)]
      case .lost(let found): found.map { key($0.key, $0.isDown ? 1 : 0) }
      case .leds(let report): leds(report)
      case .held, .ledsAtOpening, .gone: []
      }
    return events + [event(InputEvent.synchronization, InputEvent.report, 0)]
  }

  private func key(_ key: KeyCode, _ value: Int32) -> InputEvent {
    event(InputEvent.key, key.number, value)
  }

  /// In the order of the locks, in which the controller tells them.
  private func leds(_ report: LEDReport) -> [InputEvent] {
    Lock.allCases.map(\.led).filter(report.known.contains).flatMap(\.numbers).map {
      event(InputEvent.led, $0, report.on.contains(LEDs(number: $0)) ? 1 : 0)
    }
  }

  private func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> InputEvent {
    InputEvent(time: time, type: type, code: code, value: value)
  }
}
