/// The successive states of one machine.
struct Lane: Sendable {
  /// A period in one state, or in many.
  struct Span: Hashable, Sendable {
    /// The name of the state; `nil` if there were many.
    let state: String?
    /// When the span begins, in microseconds; it ends when the next one begins.
    let start: Int64
    /// How many states were entered in the span, including the first.
    var states = 1
  }

  /// The name of the machine.
  let title: String
  /// The names of all its states.
  let names: [String]
  /// The numbers of the states' colours in the style sheet. Further states have the same again.
  private let colours: [Int]
  /// The present state.
  private(set) var state: String
  /// A span for each state that was entered, in order of time.
  private var spans: [Span]

  init(_ title: String, _ names: [String], _ colours: [Int], in state: String, at time: Int64) {
    (self.title, self.names, self.colours, self.state) = (title, names, colours, state)
    spans = [Span(state: state, start: time)]
  }

  /// How often the state changed.
  var changes: Int { spans.count - 1 }

  /// The class in the style sheet of a state's colour, or of many changes.
  func colour(of state: String?) -> String {
    guard let state else { return "many" }
    return "c\(colours[(names.firstIndex(of: state) ?? 0) % colours.count])"
  }

  /// Adds a change to `state` at `time`, or at the time of the change before if that is later.
  mutating func add(_ state: String, at time: Int64) {
    self.state = state
    spans.append(Span(state: state, start: max(time, spans.last?.start ?? time)))
  }

  /// The spans of a picture in which those shorter than `grain` are too narrow to see, and behind
  /// them an empty one at `end`.
  ///
  /// Neighbours that are both shorter than `grain` are merged into one span of many changes. A span
  /// that is not shorter is never merged, so a lane of duration T has at most 2T / `grain` + 1 spans.
  func spans(shorterThan grain: Int64, until end: Int64) -> [Span] {
    var merged: [Span] = []
    func isShort(_ span: Span, until end: Int64) -> Bool {
      span.state == nil || end - span.start < grain
    }
    for span in spans + [Span(state: state, start: end)] {
      // The last span ends with this one: it may now be merged with the one before.
      if let last = merged.last, let before = merged.dropLast().last,
        isShort(before, until: last.start), isShort(last, until: span.start)
      {
        merged.removeLast(2)
        merged.append(Span(state: nil, start: before.start, states: before.states + last.states))
      }
      merged.append(span)
    }
    return merged
  }
}
