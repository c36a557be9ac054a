import Terminal

/// The drawing of a timeline, built from top to bottom.
struct Picture {
  /// The width of the picture in its own units, which are pixels unless a viewer scales it.
  private static let width = 800.0
  /// The distance of text from the picture's left and right edges.
  private static let edge = 16.0
  /// Adjacent spans narrower than this many pixels are merged.
  private static let grain = 3.0
  /// The height of a lane, and of a row of ticks or of the legend, in pixels.
  private static let laneHeight = 36.0
  private static let rowHeight = 18.0

  private let timeline: Timeline
  private let axis: Axis
  /// The elements below the heading, one line each, and the height so far.
  private var elements: [String] = []
  private var height = 66.0

  init(of timeline: Timeline) {
    self.timeline = timeline
    axis = Axis(period: timeline.period, zero: timeline.zero)
    let grain = axis.duration(ofPixels: Self.grain)
    let lanes = [timeline.shift, timeline.keyboard].map { lane in
      (lane: lane, spans: lane.spans(shorterThan: grain, until: axis.period.upperBound))
    }
    for (lane, spans) in lanes { drawLane(lane, spans) }
    for press in Timeline.Press.allCases {
      drawRow(press.rawValue, timeline.presses[press] ?? [])
    }
    drawAxis()
    for (lane, spans) in lanes { drawLegend(lane, Set(spans.map(\.state))) }
    height += 10
  }

  /// The SVG document with this title.
  func svg(title: String) -> String {
    let room = Self.width - 2 * Self.edge
    let heading = title.clipped(toWidth: room, fontSize: Style.titleSize)
    let height = decimal(height)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 \(height)" width="800" height="\(height)" \
      role="img">
      <title>\(heading.escaped)</title>
      <desc>\(timeline.description.escaped)</desc>
      <style>
      \(Style.sheet)
      </style>
      <rect class="paper" x="0.5" y="0.5" width="799" height="\(decimal(self.height - 1))" rx="6"/>
      \(text(heading, "title", x: Self.edge, y: 30))
      \(text(timeline.summary, "quiet", x: Self.edge, y: 50))
      \(elements.joined(separator: "\n"))
      </svg>

      """
  }

  // MARK: Lanes

  private mutating func drawLane(_ lane: Lane, _ spans: [Lane.Span]) {
    elements.append(text(lane.title, "lane", x: Self.edge, y: height + 22))
    // From the last to the first: a narrow span lies on top of the one after it.
    for (span, next) in zip(spans, spans.dropFirst()).reversed() {
      drawSpan(span, until: next.start, lane)
    }
    height += Self.laneHeight + 8
  }

  private mutating func drawSpan(_ span: Lane.Span, until end: Int64, _ lane: Lane) {
    let x = axis.x(span.start)
    // A gap separates neighbours, whose colours may be the same.
    let width = max(1, axis.x(end) - x - 1)
    let what = span.state ?? counted(span.states - 1, "change", "changes")
    let times = [span.start - axis.zero, end - axis.zero, end - span.start].map(seconds)
    let box = rect(lane.colour(of: span.state), x: x, y: height, width, Self.laneHeight)
    let title = "\(what.escaped), \(times[0]) to \(times[1]) s (\(times[2]) s)"
    elements.append("<rect \(box)><title>\(title)</title></rect>")
    // A name that does not fit in whole needs room for some of its letters.
    guard let name = span.state, width > 40 else { return }
    let label = name.clipped(toWidth: width - 12, fontSize: Style.textSize)
    elements.append(text(label, "on", x: x + 6, y: height + 22))
  }

  // MARK: Presses and time

  private mutating func drawRow(_ name: String, _ presses: [Int64]) {
    let middle = height + Self.rowHeight / 2
    elements.append(text(name, "", x: Self.edge, y: middle + 4))
    elements.append(path("grid", line(y: middle)))
    // Ticks of one pixel show no more than this, however many presses there are.
    let columns = Set(presses.map { axis.x($0).rounded() }).sorted()
    if !columns.isEmpty {
      let ticks = columns.map { "M\(decimal($0)) \(decimal(middle - 5))v10" }.joined()
      let title = "\(name): \(counted(presses.count, "press", "presses"))"
      elements.append(#"<path class="press" d="\#(ticks)"><title>\#(title)</title></path>"#)
    }
    height += Self.rowHeight
  }

  private mutating func drawAxis() {
    height += 4
    let marks = axis.marks
    let lines = marks.map { "M\(decimal($0.x)) 66V\(decimal(height + 4))" }
    // The grid is below all that it crosses.
    elements.insert(path("grid", lines.joined() + line(y: height)), at: 0)
    for mark in marks { elements.append(text(mark.label, "mark", x: mark.x, y: height + 17)) }
    height += 32
  }

  // MARK: The legend

  /// Draws the colours of these states, in columns as wide as the longest name needs.
  private mutating func drawLegend(_ lane: Lane, _ drawn: Set<String?>) {
    elements.append(text(lane.title, "lane", x: Self.edge, y: height + 14))
    let states = lane.names.filter(drawn.contains) + (drawn.contains(nil) ? [nil] : [])
    let names = states.map { $0 ?? "many changes" }
    let widest = names.map { $0.width(fontSize: Style.textSize) }.max() ?? 0
    let columns = Int((Axis.right - Axis.left) / (widest + 30))
    for (index, (state, name)) in zip(states, names).enumerated() {
      let (row, column) = index.quotientAndRemainder(dividingBy: columns)
      let x = Axis.left + Double(column) * (widest + 30)
      let y = height + Double(row) * Self.rowHeight
      elements.append("<rect \(rect(lane.colour(of: state), x: x, y: y + 4, 11, 11))/>")
      elements.append(text(name, "", x: x + 18, y: y + 14))
    }
    height += Double((names.count + columns - 1) / columns) * Self.rowHeight
  }

  // MARK: Elements

  private func text(_ text: String, _ style: String, x: Double, y: Double) -> String {
    let style = style.isEmpty ? "" : #" class="\#(style)""#
    return #"<text\#(style) x="\#(decimal(x))" y="\#(decimal(y))">\#(text.escaped)</text>"#
  }

  private func path(_ style: String, _ lines: String) -> String {
    #"<path class="\#(style)" d="\#(lines)"/>"#
  }

  /// A line over the whole axis.
  private func line(y: Double) -> String {
    "M\(decimal(Axis.left)) \(decimal(y))H\(decimal(Axis.right))"
  }

  /// The attributes of a rectangle.
  private func rect(
    _ style: String, x: Double, y: Double, _ width: Double, _ height: Double
  ) -> String {
    let size = #"width="\#(decimal(width))" height="\#(decimal(height))""#
    return #"class="\#(style)" x="\#(decimal(x))" y="\#(decimal(y))" \#(size)"#
  }
}

extension Timeline {
  /// The picture, a self-contained SVG document of less than 300 kB.
  ///
  /// It has a lane for each machine, a row of ticks for each class of presses, an axis in seconds
  /// and a legend. It follows the viewer's light or dark mode. Every span of a lane has a tooltip
  /// with its state, its times and its duration.
  ///
  /// - Parameter title: the heading, such as the recording's name. Any text is allowed.
  public func svg(title: String) -> String { Picture(of: self).svg(title: title) }

  /// The duration, and the numbers of changes and presses, on one line.
  fileprivate var summary: String {
    let parts = [
      "\(shortSeconds(period.upperBound - period.lowerBound)) s",
      counted(shift.changes + keyboard.changes, "change", "changes"),
      counted(presses.values.reduce(0) { $0 + $1.count }, "press", "presses"),
    ]
    let start = zero == 0 ? [] : ["0 s is \(shortSeconds(zero)) s since 1970"]
    return (parts + start).joined(separator: " · ")
  }

  /// A description of the picture in words, for users who cannot see it.
  fileprivate var description: String {
    let machines = [("Shift", shift), ("The keyboard", keyboard)].map { name, lane in
      "\(name) changed \(counted(lane.changes, "time", "times")) and ended in \(lane.state)."
    }
    let classes = Press.allCases.map { "\(presses[$0]?.count ?? 0) \($0.rawValue)" }
    return (machines + ["Pressed: \(classes.joined(separator: ", "))."]).joined(separator: " ")
  }
}
