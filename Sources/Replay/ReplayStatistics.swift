public import KeyboardModes

/// The numbers of a recording's events by kind. They never tell which key an event was of.
public struct ReplayStatistics: Sendable {
  /// The presses by their class, without bounces.
  public internal(set) var presses: [Timeline.Press: Int] = [:]
  /// The presses that did not count as such: see `Settings/debounce`.
  public internal(set) var bounces = 0
  /// The releases.
  public private(set) var releases = 0
  /// The autorepeats.
  public private(set) var repeats = 0
  /// How many times events were lost.
  public private(set) var losses = 0
  /// The changes of each machine; none for one that never changed.
  public internal(set) var changes: [Machine: Int] = [:]
  /// The devices with any input.
  public private(set) var devices: Set<DeviceID> = []
  /// The earliest and the latest time. The first event need not be the earliest.
  private var period: ClosedRange<Time>?

  /// The time from the earliest to the latest event, in microseconds. It fits, because recorded
  /// times are never negative.
  public var duration: Int64 {
    period.map { $0.upperBound.microseconds - $0.lowerBound.microseconds } ?? 0
  }

  /// Counts an input, except for a press.
  mutating func add(_ input: Controller.Input, at time: Time?) {
    if let device = input.device { devices.insert(device) }
    if let time {
      period = min(period?.lowerBound ?? time, time)...max(period?.upperBound ?? time, time)
    }
    switch input {
    case .key(_, let event):
      if event.action == .release { releases += 1 }
      if event.action == .autorepeat { repeats += 1 }
    case .missedRelease: releases += 1
    case .synchronized: losses += 1
    case .opened, .gone, .allOpened, .leds, .client, .configured: break
    }
  }
}
