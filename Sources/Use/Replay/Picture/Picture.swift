import Terminal

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
      counted(lanes.reduce(0) { $0 + $1.changeCount }, "change", "changes"),
      counted(presses.values.reduce(0) { $0 + $1.count }, "press", "presses"),
    ]
    let start = zero == 0 ? [] : ["0 s is \(shortSeconds(zero)) s since 1970"]
    return (parts + start).joined(separator: " · ")
  }
}

/// The drawing of a timeline, 800 pixels wide, built from top to bottom.
private struct Picture {
  /// The distance of text from the picture's left and right edges.
  private static let edge = 16.0
  /// The heights of a lane, and of a row of the legend or of ticks, in pixels.
  private static let (laneHeight, rowHeight) = (36.0, 18.0)

  private let timeline: Timeline
  private let axis: Axis
  /// The elements below the heading, one line each.
  private var elements: [String] = []
  /// The height of the picture so far, in pixels.
  private var height = 66.0

  init(of timeline: Timeline) {
    self.timeline = timeline
    axis = Axis(period: timeline.period, zero: timeline.zero)
    let lanes = timeline.lanes.map { [axis] lane in
      (lane: lane, spans: lane.spans(mergingShorterThan: axis.minSpan, until: axis.end))
    }
    for (lane, spans) in lanes {
      let title = lane.title.clipped(toWidth: Axis.left - Self.edge - 8, fontSize: Style.textSize)
      addText(title, "lane", x: Self.edge, y: height + 22)
      // Draws the last span first: a narrow span lies on top of the span after it.
      for span in spans.reversed() { drawSpan(span, of: lane) }
      height += Self.laneHeight + 8
    }
    for press in Timeline.PressClass.allCases {
      drawRow(press.rawValue, timeline.presses[press] ?? [])
    }
    drawAxis()
    for (lane, spans) in lanes { drawLegend(lane, Set(spans.map(\.state))) }
  }

  /// The SVG document with this title.
  func svg(title: String) -> String {
    let heading = title.clipped(toWidth: 800 - 2 * Self.edge, fontSize: Style.titleSize)
    let height = height + 10
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 \(decimal(height))" width="800" \
      height="\(decimal(height))" role="img">
      <title>\(heading.xmlEscaped)</title>
      <desc>\(timeline.summary)</desc>
      <style>
      \(Style.sheet)
      </style>
      <rect class="paper" x="0.5" y="0.5" width="799" height="\(decimal(height - 1))" rx="6"/>
      \(text(heading, "title", x: Self.edge, y: 30))
      \(text(timeline.summary, "quiet", x: Self.edge, y: 50))
      \(elements.joined(separator: "\n"))
      </svg>

      """
  }

  private mutating func drawSpan(_ span: Lane.Span, of lane: Lane) {
    let x = axis.x(span.start)
    // A gap separates neighbours, because their colours may be the same.
    let width = max(1, axis.x(span.end) - x - 1)
    let what = span.state ?? counted(span.stateCount - 1, "change", "changes")
    let times = [span.start - timeline.zero, span.end - timeline.zero, span.end - span.start]
      .map(seconds)
    let title = "\(what), \(times[0]) to \(times[1]) s (\(times[2]) s)"
    addRect(lane.colour(of: span.state), x: x, y: height, width, Self.laneHeight, title: title)
    // A name that does not fit in whole needs room for some of its letters.
    guard let name = span.state, width > 40 else { return }
    let label = name.lastWords(toWidth: width - 12, fontSize: Style.textSize)
    addText(label, "on", x: x + 6, y: height + 22)
  }

  private mutating func drawRow(_ name: String, _ presses: [Int64]) {
    let middle = height + Self.rowHeight / 2
    addText(name, x: Self.edge, y: middle + 4)
    elements.append(path("grid", line(y: middle)))
    // One tick for each column of pixels: more would lie on top of each other.
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
    // The grid comes first, so that everything else is drawn over it.
    elements.insert(path("grid", lines.joined() + line(y: height)), at: 0)
    for mark in marks { addText(mark.label, "mark", x: mark.x, y: height + 17) }
    height += 32
  }

  /// Draws the colour and the name of each drawn state, in columns as wide as the longest name.
  private mutating func drawLegend(_ lane: Lane, _ drawn: Set<String?>) {
    addText(lane.title, "lane", x: Self.edge, y: height + 14)
    let states = lane.stateNames.filter(drawn.contains) + (drawn.contains(nil) ? [nil] : [])
    let names = states.map { $0 ?? "many changes" }
    let column = 30 + (names.map { $0.width(fontSize: Style.textSize) }.max() ?? 0)
    var x = Axis.left
    for (state, name) in zip(states, names) {
      if x + column > Axis.right { (x, height) = (Axis.left, height + Self.rowHeight) }
      addRect(lane.colour(of: state), x: x, y: height + 4, 11, 11)
      addText(name, x: x + 18, y: height + 14)
      x += column
    }
    height += Self.rowHeight
  }

  // MARK: Elements

  private mutating func addText(_ text: String, _ style: String = "", x: Double, y: Double) {
    elements.append(self.text(text, style, x: x, y: y))
  }

  private func text(_ text: String, _ style: String, x: Double, y: Double) -> String {
    let style = style.isEmpty ? "" : #" class="\#(style)""#
    return #"<text\#(style) x="\#(decimal(x))" y="\#(decimal(y))">\#(text.xmlEscaped)</text>"#
  }

  private mutating func addRect(
    _ style: String, x: Double, y: Double, _ width: Double, _ height: Double, title: String = ""
  ) {
    let place = #"x="\#(decimal(x))" y="\#(decimal(y))""#
    let size = #"width="\#(decimal(width))" height="\#(decimal(height))""#
    let tooltip = title.isEmpty ? "/>" : "><title>\(title.xmlEscaped)</title></rect>"
    elements.append(#"<rect class="\#(style)" \#(place) \#(size)\#(tooltip)"#)
  }

  private func path(_ style: String, _ lines: String) -> String {
    #"<path class="\#(style)" d="\#(lines)"/>"#
  }

  /// The path of a line along the whole axis.
  private func line(y: Double) -> String {
    "M\(decimal(Axis.left)) \(decimal(y))H\(decimal(Axis.right))"
  }
}
