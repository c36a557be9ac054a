public import KeyboardModes

/// The numbers of a recording's events by kind. They never tell which key an event was of.
public struct ReplayStatistics: Sendable {
  /// The presses by their meaning, without bounces.
  public private(set) var presses = (shift: 0, bound: 0, characters: 0, others: 0)
  /// The presses that did not count as such: see `Settings/debounce`.
  public private(set) var bounces = 0
  /// The releases.
  public private(set) var releases = 0
  /// The autorepeats.
  public private(set) var repeats = 0
  /// How many times events were lost.
  public private(set) var losses = 0
  /// The changes of each machine; none for one that never changed.
  public private(set) var changes: [Machine: Int] = [:]
  private var devices: Set<DeviceID> = []
  /// The earliest and the latest time. The first event need not be the earliest.
  private var period: ClosedRange<Time>?

  /// Counts of nothing.
  public init() {}

  /// The number of devices with any input.
  public var deviceCount: Int { devices.count }

  /// The sum of ``presses``.
  public var pressCount: Int {
    presses.shift + presses.bound + presses.characters + presses.others
  }

  /// The time from the earliest to the latest event, in microseconds. It fits, because recorded
  /// times are never negative.
  public var duration: Int64 {
    period.map { $0.upperBound.microseconds - $0.lowerBound.microseconds } ?? 0
  }

  /// Counts a press; a bounce has no meaning.
  mutating func count(press meaning: PressMeaning?) {
    switch meaning {
    case .shift: presses.shift += 1
    case .bound: presses.bound += 1
    case .character: presses.characters += 1
    case .other, .inert: presses.others += 1
    case nil: bounces += 1
    }
  }

  /// Counts an input, except for a press.
  mutating func count(_ input: Controller.Input, at time: Time?) {
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
    case .opened, .gone, .allOpened, .client, .configured: break
    }
  }

  mutating func count(_ change: Change) { changes[change.machine, default: 0] += 1 }
}
