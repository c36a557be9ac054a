import KeyboardModes

/// The changes and presses of a replayed recording, to be drawn as one picture.
///
/// States that changed faster than can be seen are drawn as "many changes", and presses within one
/// pixel are one tick. Every state that lasted long enough to be seen has a span of its own, in
/// which there was no other state.
public struct Timeline: Sendable {
  /// The class of a press. A timeline never holds which key was pressed.
  enum PressClass: String, CaseIterable {
    case shift = "Shift keys"
    case bound = "bound keys"
    case character = "characters"
    case other = "other keys"

    init(_ meaning: PressMeaning) {
      self =
        switch meaning {
        case .shift: .shift
        case .bound: .bound
        case .character: .character
        case .navigation, .button, .other, .altGr, .inert: .other
        }
    }
  }

  /// The drawn period, in microseconds: from the start to the latest change, press or end.
  private(set) var period: ClosedRange<Int64>
  /// The time that the picture shows as 0, in microseconds.
  let zero: Int64
  /// A lane for each machine, in the order of ``States/entries``.
  private var allLanes: [(machine: MachineName, lane: Lane)]
  /// The times of the presses, in microseconds.
  private(set) var presses: [PressClass: [Int64]] = [:]

  /// A timeline that begins at `time`. An earlier change or press is drawn at that time.
  ///
  /// - Parameters:
  ///   - states: the states of the machines at that time.
  ///   - clock: converts recorded times to shown times.
  ///   - settings: the settings of the replay, for the names of the states.
  init(
    from time: Time, in states: States, on clock: DisplayClock, _ settings: Settings
  ) {
    let start = time.microseconds
    (period, zero) = (start...start, clock.zero)
    allLanes = states.entries.map { entry in
      let machine = entry.machine
      let table = settings.machines.first { $0.name == machine }?.table
      let names = table?.stateNames ?? (machine.isLock ? LockRules() : nil)?.stateNames
      let (title, colours) =
        Self.shippedLanes[machine] ?? (machine.rawValue, [0, 2, 1, 5, 4, 3, 6])
      return (
        machine,
        Lane(title, names ?? ShiftRules().stateNames, colours, in: entry.state, at: start)
      )
    }
  }

  /// The titles of the shipped machines' lanes, and the colours of their states.
  private static let shippedLanes: [MachineName: (title: String, colours: [Int])] = [
    .shift: ("Shift", [0, 1, 2]), .keyboard: ("Keyboard", [0, 3, 4, 5, 6, 1, 2]),
    .caps: ("Caps Lock", [6, 0, 1]), .num: ("Num Lock", [6, 0, 1]),
  ]

  /// The lanes to draw: all except the lanes of locks that were always unknown.
  var lanes: [Lane] {
    allLanes.filter {
      !$0.machine.isLock || $0.lane.hasState(otherThan: LockRules.State.unknown.rawValue)
    }
    .map(\.lane)
  }

  /// Adds a press of a key. Autorepeats are not presses.
  mutating func add(_ press: PressClass, at time: Time) {
    presses[press, default: []].append(extendPeriod(to: time))
  }

  /// Adds a change.
  mutating func add(_ change: Change) {
    let time = extendPeriod(to: change.time)
    guard let index = allLanes.firstIndex(where: { $0.machine == change.machine }) else { return }
    allLanes[index].lane.enter(change.to, at: time)
  }

  /// Makes the picture end at `time`, unless something is later.
  mutating func end(at time: Time) { _ = extendPeriod(to: time) }

  /// Extends the period to `time`. Returns the time in microseconds, at least the period's start.
  private mutating func extendPeriod(to time: Time) -> Int64 {
    let time = max(period.lowerBound, time.microseconds)
    period = period.lowerBound...max(period.upperBound, time)
    return time
  }
}

/// The successive states of one machine.
struct Lane: Sendable {
  /// A period in one state, or in many.
  struct Span {
    /// The name of the state; `nil` if there were many.
    let state: String?
    /// When the span begins and ends, in microseconds.
    let start, end: Int64
    /// How many states were entered in the span, including the first.
    var stateCount = 1
  }

  /// The machine's name for people, such as `Caps Lock`.
  let title: String
  /// The names of all states of the machine.
  let stateNames: [String]
  /// The numbers of the states' colours in the style sheet; further states repeat them.
  private let colours: [Int]
  /// The states that were entered, and when, in order of time.
  private var entered: [(state: String, time: Int64)]

  init(_ title: String, _ names: [String], _ colours: [Int], in state: String, at time: Int64) {
    (self.title, self.stateNames, self.colours) = (title, names, colours)
    entered = [(state, time)]
  }

  /// Whether any other state was entered.
  func hasState(otherThan state: String) -> Bool { entered.contains { $0.state != state } }

  /// How often the state changed.
  var changeCount: Int { entered.count - 1 }

  /// The style sheet's class for the colour of a state. A `state` of `nil` stands for many changes.
  func colour(of state: String?) -> String {
    guard let state else { return "many" }
    return "c\(colours[(stateNames.firstIndex(of: state) ?? 0) % colours.count])"
  }

  /// Adds a change to `state` at `time`. A tap has the time of its press, and may be added after a
  /// later change; it is drawn at the time of that change.
  mutating func enter(_ state: String, at time: Int64) {
    entered.append((state, max(time, entered[entered.count - 1].time)))
  }

  /// The spans to draw. Spans shorter than `minSpan` are too narrow to see, so neighbours that are
  /// both too narrow are merged into one span of many changes.
  ///
  /// A longer span is never merged, so a lane of duration T has at most 2T / `minSpan` + 1 spans.
  func spans(mergingShorterThan minSpan: Int64, until end: Int64) -> [Span] {
    var spans: [Span] = []
    for (index, (state, start)) in entered.enumerated() {
      let end = index + 1 < entered.count ? entered[index + 1].time : end
      if end - start < minSpan, let last = spans.last,
        last.state == nil || last.end - last.start < minSpan
      {
        spans.removeLast()
        spans.append(Span(state: nil, start: last.start, end: end, stateCount: last.stateCount + 1))
      } else {
        spans.append(Span(state: state, start: start, end: end))
      }
    }
    return spans
  }
}
