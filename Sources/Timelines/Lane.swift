/// The successive states of one machine.
///
/// While there are few states, each has its own span. When there are too many, adjacent spans
/// shorter than a duration, the grain, are merged into one span of many changes, and the grain
/// doubles until few enough spans are left. A span that is not shorter than the grain is never
/// merged, so a lane of duration T and grain g has at most 2T/g + 1 spans. Merging with one grain
/// and then with a larger one gives the same spans as merging with the larger one alone. So a
/// picture with a grain of 1/255 of T or more does not show whether spans were merged before.
struct Lane: Sendable {
  /// A period in one state, or in many.
  struct Span: Hashable, Sendable {
    /// The index of the state; `nil` if there were many.
    var state: Int?
    /// When the span begins, in microseconds; it ends when the next one begins.
    var start: Int64
    /// How many states were entered in the span, including the first.
    var states = 1
  }

  /// The maximum number of spans that are kept. With a grain of 1/255 of the whole duration or
  /// more, at most half as many are left.
  static let mostSpans = 2048
  /// The maximum number of distinct states, unless the rules have more. The last one represents all
  /// further states.
  static let mostStates = 7
  /// The length to which longer names are cut, in Unicode scalars.
  static let longestName = 20

  /// The names of the states: first those of the rules, then others as they appear.
  private(set) var names: [String]
  /// The spans, in order of time; empty before the first change.
  private(set) var spans: [Span] = []
  /// The indices of the states that the machine was in.
  private(set) var used: Set<Int>
  private(set) var changes = 0
  private var current: Int
  private var grain: Int64 = 1

  init(states: [String], initial: String) {
    names = states
    current = states.firstIndex(of: initial) ?? 0
    used = [current]
  }

  /// Sets the state of a machine that has not changed yet.
  mutating func begin(in state: String) {
    current = index(of: state)
    used = [current]
  }

  var state: String { names[current] }

  /// Adds a change at `time`.
  mutating func add(from: String, to: String, at time: Int64) {
    if spans.isEmpty {
      let first = index(of: from)
      used = [first]
      // It is unknown when the machine entered that state. The picture shows the state from its own
      // start, which is known only at the end of the recording.
      spans = [Span(state: first, start: -Timeline.furthest)]
    }
    current = index(of: to)
    used.insert(current)
    changes += 1
    spans.append(Span(state: current, start: max(time, spans.last?.start ?? time)))
    if spans.count > Self.mostSpans { coarsen() }
  }

  /// Merges spans until at most half of the maximum are left. Merging those added since the last
  /// time may be enough, so the grain does not grow at once.
  private mutating func coarsen() {
    spans = Self.merged(spans, shorterThan: grain)
    while spans.count > Self.mostSpans / 2 {
      grain *= 2
      spans = Self.merged(spans, shorterThan: grain)
    }
  }

  /// The spans of a picture of `period`, in which spans shorter than `grain` are too narrow to see.
  func spans(in period: ClosedRange<Int64>, grain: Int64) -> [Span] {
    var all = spans.isEmpty ? [Span(state: current, start: period.lowerBound)] : spans
    all[0].start = period.lowerBound
    // If the picture begins with a change, the state before it takes no time.
    if all.count > 1, all[0].states == 1, all[1].start == period.lowerBound { all.removeFirst() }
    return Self.merged(all, shorterThan: grain, end: period.upperBound)
  }

  /// `spans`, with adjacent spans merged if each is shorter than `grain`. The last one ends at `end`;
  /// `nil` while that is unknown.
  private static func merged(
    _ spans: [Span], shorterThan grain: Int64, end: Int64? = nil
  ) -> [Span] {
    var result: [Span] = []
    var lastIsShort = false
    for (place, span) in spans.enumerated() {
      let next = place + 1 < spans.count ? spans[place + 1].start : end
      let isShort = span.state == nil || next.map { $0 - span.start < grain } ?? false
      if isShort && lastIsShort {
        result[result.count - 1].state = nil
        result[result.count - 1].states += span.states
      } else {
        result.append(span)
      }
      lastIsShort = isShort
    }
    return result
  }

  /// The index of the state called `name`, which is added if it is new and there is room.
  private mutating func index(of name: String) -> Int {
    if let known = names.firstIndex(of: name) { return known }
    let shown = name.clipped(to: Self.longestName)
    if let known = names.firstIndex(of: shown) { return known }
    if names.count < Self.mostStates {
      names.append(names.count + 1 < Self.mostStates ? shown : "another state")
    }
    return names.count - 1
  }
}
