/// The successive states of one machine.
///
/// Neighbouring spans that are both shorter than a duration, the grain, are merged into one span of
/// many changes; while there are too many spans, the grain doubles. A span that is not shorter than
/// the grain is never merged, so a lane of duration T and grain g has at most 2T/g + 1 spans.
/// Merging with one grain and then with a larger one gives the same spans as merging with the
/// larger one alone. So a picture with a grain of 1/500 of T or more does not show whether spans
/// were merged before.
struct Lane: Sendable {
  /// A period in one state, or in many.
  struct Span: Hashable, Sendable {
    /// The name of the state; `nil` if there were many.
    var state: String?
    /// When the span begins, in microseconds; it ends when the next one begins.
    let start: Int64
    /// How many states were entered in the span, including the first.
    var states = 1
  }

  /// The maximum number of spans that are kept.
  static let mostSpans = 2048

  /// The name of the machine.
  let title: String
  /// The names of all its states.
  let names: [String]
  /// The numbers of the states' colours in the style sheet. Further states have the same again.
  private let colours: [Int]
  /// The present state.
  private(set) var state: String
  /// The spans, in order of time.
  private(set) var spans: [Span]
  private var grain: Int64 = 1

  init(_ title: String, _ names: [String], _ colours: [Int], in state: String, at time: Int64) {
    (self.title, self.names, self.colours, self.state) = (title, names, colours, state)
    spans = [Span(state: state, start: time)]
  }

  /// How often the state changed.
  var changes: Int { spans.reduce(-1) { $0 + $1.states } }

  /// The class in the style sheet of a state's colour, or of many changes.
  func colour(of state: String?) -> String {
    guard let state else { return "many" }
    return "c\(colours[(names.firstIndex(of: state) ?? 0) % colours.count])"
  }

  /// Adds a change to `state` at `time`, or at the time of the change before if that is later.
  mutating func add(_ state: String, at time: Int64) {
    self.state = state
    append(Span(state: state, start: max(time, spans.last?.start ?? time)))
    while spans.count > Self.mostSpans { merge(shorterThan: grain * 2) }
  }

  /// The spans of a picture in which those shorter than `grain` are too narrow to see, and behind
  /// them an empty one at `end`.
  func spans(shorterThan grain: Int64, until end: Int64) -> [Span] {
    var lane = self
    lane.merge(shorterThan: grain)
    lane.append(Span(state: state, start: end))
    return lane.spans
  }

  private mutating func merge(shorterThan grain: Int64) {
    self.grain = grain
    let all = spans
    spans = []
    for span in all { append(span) }
  }

  /// Adds a span, with which the last one ends: it may now be merged with the one before.
  private mutating func append(_ span: Span) {
    let last = spans.count - 1
    if last > 0, isShort(last - 1, until: spans[last].start), isShort(last, until: span.start) {
      spans[last - 1].state = nil
      spans[last - 1].states += spans[last].states
      spans.removeLast()
    }
    spans.append(span)
  }

  private func isShort(_ index: Int, until end: Int64) -> Bool {
    spans[index].state == nil || end - spans[index].start < grain
  }
}
