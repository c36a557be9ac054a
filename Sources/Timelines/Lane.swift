/// The states that one machine was in, one after the other.
///
/// While they are few, each has a span of its own. When they are too many, neighbours that are
/// shorter than a grain of time become one span of many changes, and the grain doubles until few
/// enough are left. What lasts longer than the grain is never merged, so a lane of duration T and
/// grain g has at most 2T/g + 1 spans. Merging with one grain and then with a larger one is merging
/// with the larger one: what has become coarse is drawn as if it had not, down to 1/255 of T.
struct Lane: Sendable {
  /// A stretch of time in one state, or in many.
  struct Span: Hashable, Sendable {
    /// The index of the state; `nil` where there were many.
    var state: Int?
    /// When it begins, in microseconds; it ends where the next one begins.
    var start: Int64
    /// How many states were entered in it, the first included.
    var states = 1
  }

  /// More spans than this are never kept. Of a grain of 1/255 of the whole duration or more, no
  /// more than half as many are left.
  static let mostSpans = 2048
  /// More states than this are not told apart, unless the rules have them; the last of them then
  /// stands for all others.
  static let mostStates = 7
  /// Longer names than this are shown by their beginning.
  static let longestName = 20

  /// The names of the states: first those of the rules, then others in their order of coming.
  private(set) var names: [String]
  /// The spans, in their order; none before the first change.
  private(set) var spans: [Span] = []
  /// The indices of the states that were entered, or begun with.
  private(set) var used: Set<Int>
  /// How many changes there were.
  private(set) var changes = 0
  private var current: Int
  private var grain: Int64 = 1

  /// The lane of a machine that has not changed yet.
  init(states: [String], initial: String) {
    names = states
    current = states.firstIndex(of: initial) ?? 0
    used = [current]
  }

  /// Puts a machine that has not changed yet into another state.
  mutating func begin(in state: String) {
    current = index(of: state)
    used = [current]
  }

  /// The name of the state that it is in.
  var state: String { names[current] }

  /// Adds a change at `time`.
  mutating func add(from: String, to: String, at time: Int64) {
    if spans.isEmpty {
      let first = index(of: from)
      used = [first]
      // Nobody knows how long it had been in that state. The picture shows it from its own start,
      // which only the end of the recording can tell.
      spans = [Span(state: first, start: -Timeline.furthest)]
    }
    current = index(of: to)
    used.insert(current)
    changes += 1
    spans.append(Span(state: current, start: max(time, spans.last?.start ?? time)))
    if spans.count > Self.mostSpans { coarsen() }
  }

  /// Merges until half of the room is free. Those that came since the last time may be enough, so
  /// the grain does not grow at once.
  private mutating func coarsen() {
    spans = Self.merged(spans, shorterThan: grain)
    while spans.count > Self.mostSpans / 2 {
      grain *= 2
      spans = Self.merged(spans, shorterThan: grain)
    }
  }

  /// The spans of a picture of `period`, in which nothing shorter than `grain` can be seen.
  func spans(in period: ClosedRange<Int64>, grain: Int64) -> [Span] {
    var all = spans.isEmpty ? [Span(state: current, start: period.lowerBound)] : spans
    all[0].start = period.lowerBound
    // A picture that begins with a change has nothing to show of the state before it.
    if all.count > 1, all[0].states == 1, all[1].start == period.lowerBound { all.removeFirst() }
    return Self.merged(all, shorterThan: grain, end: period.upperBound)
  }

  /// `spans` with those neighbours merged that are each shorter than `grain`.
  ///
  /// - Parameter end: where the last of them ends; `nil` while that is open.
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

  /// The index of the state of this name, which is made known.
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
