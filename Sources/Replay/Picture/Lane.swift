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
    /// The name of the state; `nil` if there were many.
    var state: String?
    /// When the span begins, in microseconds; it ends when the next one begins.
    var start: Int64
    /// How many states were entered in the span, including the first.
    var states = 1
  }

  /// The maximum number of spans that are kept. With a grain of 1/255 of the whole duration or
  /// more, at most half as many are left.
  static let mostSpans = 2048

  /// The name of the machine.
  let title: String
  /// The names of all its states.
  let names: [String]
  private let colours: [Int]
  /// The present state.
  private(set) var state: String
  /// The spans, in order of time.
  private(set) var spans: [Span]
  /// The states that the machine was in.
  private(set) var used: Set<String>
  private(set) var changes = 0
  private var grain: Int64 = 1

  init(_ title: String, _ names: [String], _ colours: [Int], in state: String, at time: Int64) {
    (self.title, self.names, self.colours, self.state) = (title, names, colours, state)
    spans = [Span(state: state, start: time)]
    used = [state]
  }

  /// The class of a state's colour in the style sheet.
  func colour(of state: String) -> String {
    "c\(colours[(names.firstIndex(of: state) ?? 0) % colours.count])"
  }

  /// Adds a change to `state` at `time`.
  mutating func add(_ state: String, at time: Int64) {
    self.state = state
    used.insert(state)
    changes += 1
    spans.append(Span(state: state, start: max(time, spans.last?.start ?? time)))
    guard spans.count > Self.mostSpans else { return }
    // Merging those added since the last time may be enough, so the grain does not grow at once.
    spans = Self.merged(spans, shorterThan: grain)
    while spans.count > Self.mostSpans / 2 {
      grain *= 2
      spans = Self.merged(spans, shorterThan: grain)
    }
  }

  /// The spans of a picture of `period`, in which spans shorter than `grain` are too narrow to see.
  func spans(in period: ClosedRange<Int64>, grain: Int64) -> [Span] {
    var all = spans
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
}
