import KeyboardModes
public import Timelines

/// What a replay collects beside its changes, if asked to.
public struct ReplaySummary: Sendable {
  /// The counts; `nil` if they were not asked for. They are of the replay until the window's end.
  public private(set) var statistics: ReplayStatistics?
  /// The picture of the window; `nil` if it was not asked for.
  public internal(set) var timeline: Timeline?

  /// Whether anything is to be collected.
  let isCollecting: Bool

  /// A summary that collects these; by default nothing.
  public init(statistics: ReplayStatistics? = nil, timeline: Timeline? = nil) {
    self.statistics = statistics
    self.timeline = timeline
    isCollecting = statistics != nil || timeline != nil
  }

  /// Adds an input that `controller` has not taken yet. The window begins at `start`.
  mutating func add(
    _ input: Controller.Input, at time: Time?, before controller: Controller, from start: Time
  ) {
    guard isCollecting else { return }
    if case .key(let device, let event) = input, event.action == .press {
      let isBounce = controller.isBounce(pressOf: event.key, on: device, at: event.time)
      let meaning = isBounce ? nil : controller.meaning(ofPress: event.key, on: device)
      statistics?.count(press: meaning)
      if let meaning, event.time >= start {
        timeline?.add(Timeline.Press(meaning), at: event.time)
      }
    }
    statistics?.count(input, at: time)
  }

  /// Adds changes; those before the window, which begins at `start`, are only counted.
  mutating func add(_ changes: ArraySlice<Change>, from start: Time) {
    guard isCollecting else { return }
    for change in changes {
      statistics?.count(change)
      if change.time >= start { timeline?.add(change) }
    }
  }
}

extension Timeline.Press {
  fileprivate init(_ meaning: PressMeaning) {
    self =
      switch meaning {
      case .shift: .shift
      case .bound: .bound
      case .character: .character
      case .other, .inert: .other
      }
  }
}
