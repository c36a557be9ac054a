/// The drawing of a timeline, built from top to bottom.
struct Picture {
  /// The width of the picture in its own units, which are pixels unless a viewer scales it.
  static let width = 800.0
  /// The distance of text from the picture's left and right edges.
  private static let edge = 16.0
  /// Adjacent spans narrower than this many pixels are merged.
  private static let grain = 3.0
  private static let laneTop = 66.0
  private static let laneHeight = 36.0
  private static let laneGap = 8.0
  private static let rowHeight = 16.0
  private static let legendHeight = 20.0
  private static let legendColumn = (Axis.right - Axis.left) / 4

  private let timeline: Timeline
  private let axis: Axis
  /// The elements below the heading, one line each, and the height so far.
  private var elements: [String] = []
  private var height = laneTop
  private var showsMany = false

  init(of timeline: Timeline) {
    self.timeline = timeline
    axis = Axis(period: timeline.period, zero: timeline.clock.zero)
    drawLane(timeline.shift)
    drawLane(timeline.keyboard)
    height += 2
    for (press, times) in timeline.presses { drawRow(press.rawValue, times) }
    drawAxis()
    height += 16
    drawLegend(timeline.shift)
    drawLegend(timeline.keyboard, withMany: showsMany)
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
      <defs><pattern id="many" width="6" height="6" patternUnits="userSpaceOnUse" \
      patternTransform="rotate(45)">
      <rect class="many0" width="6" height="6"/><path class="many1" d="M2 0v6"/>
      </pattern></defs>
      <rect class="paper" x="0.5" y="0.5" width="799" height="\(decimal(self.height - 1))" rx="6"/>
      \(text(heading, "title", x: Self.edge, y: 30))
      \(text(timeline.summary, "quiet", x: Self.edge, y: 50))
      \(elements.joined(separator: "\n"))
      </svg>

      """
  }

  // MARK: Lanes

  private mutating func drawLane(_ lane: Lane) {
    elements.append(text(lane.title, "lane", x: Self.edge, y: height + Self.laneHeight / 2 + 4))
    let spans = lane.spans(in: axis.period, grain: axis.duration(ofPixels: Self.grain))
    let ends = spans.dropFirst().map(\.start) + [axis.period.upperBound]
    let placed = zip(spans, ends).map { span, end in
      (span: span, end: end, length: axis.x(end) - axis.x(span.start))
    }
    // Narrow spans are drawn last, on top of their neighbours, so that they are visible.
    for part in placed where part.length >= Self.grain {
      drawSpan(part.span, end: part.end, width: part.length, lane)
    }
    for part in placed where part.length < Self.grain {
      let width = max(part.length, part.span.state == nil ? 2 : 1)
      drawSpan(part.span, end: part.end, width: width, lane)
    }
    height += Self.laneHeight + Self.laneGap
  }

  private mutating func drawSpan(_ span: Lane.Span, end: Int64, width: Double, _ lane: Lane) {
    let isWide = width >= Self.grain
    let x = min(axis.x(span.start), Axis.right - width)
    let colour = span.state.map(lane.colour) ?? "many"
    showsMany = showsMany || span.state == nil
    let what = span.state ?? counted(span.states - 1, "change", "changes")
    let times = "\(axis.text(span.start)) to \(axis.text(end)) s (\(seconds(end - span.start)) s)"
    let box = rect(
      isWide ? "span \(colour)" : colour, x: x, y: height, width: width, height: Self.laneHeight,
      radius: isWide ? 3 : 0)
    elements.append("<rect \(box)><title>\(what.escaped), \(times)</title></rect>")
    if let name = span.state { drawLabel(name, colour, x: x + width / 2, width: width - 8) }
  }

  /// Draws the name of a state in its span: on one line, on two, or not at all.
  private mutating func drawLabel(_ name: String, _ colour: String, x: Double, width: Double) {
    let (size, small) = (Style.stateSize, Style.smallSize)
    let middle = height + Self.laneHeight / 2
    let classes = "middle on\(colour == "c0" ? " on0" : "")"
    if name.width(fontSize: size) <= width {
      elements.append(text(name, classes, x: x, y: middle + 4))
    } else if let (first, second) = name.brokenAtCapital,
      max(first.width(fontSize: small), second.width(fontSize: small)) <= width
    {
      elements.append(text(first, "small \(classes)", x: x, y: middle - 3))
      elements.append(text(second, "small \(classes)", x: x, y: middle + 10))
    }
  }

  // MARK: Presses and time

  private mutating func drawRow(_ name: String, _ presses: PressTimes) {
    let middle = height + Self.rowHeight / 2
    let style = presses.count == 0 ? "small quiet" : "small"
    elements.append(text(name, style, x: Self.edge, y: middle + 4))
    elements.append(path("grid", line(y: middle)))
    // Ticks lie on half pixels. A tick less than a pixel from the one before would touch it: it
    // would not be visible and would only make the file longer.
    var columns: [Double] = []
    for time in presses.times {
      let column = (axis.x(time) * 2).rounded() / 2
      if columns.last.map({ column - $0 >= 1 }) ?? true { columns.append(column) }
    }
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
    let grid = marks.map { "M\(decimal($0.x)) \(decimal(Self.laneTop))V\(decimal(height))" }
    let teeth = marks.map { "M\(decimal($0.x)) \(decimal(height))v4" }
    // The grid is below all that it crosses.
    elements.insert(path("grid", grid.joined()), at: 0)
    elements.append(path("axis", line(y: height) + teeth.joined()))
    for mark in marks { elements.append(text(mark.label, "mark", x: mark.labelX, y: height + 17)) }
    height += 20
  }

  // MARK: The legend

  private mutating func drawLegend(_ lane: Lane, withMany: Bool = false) {
    elements.append(text(lane.title, "lane", x: Self.edge, y: height + 14))
    var entries = lane.names.map { name in
      (name: name, colour: lane.colour(of: name), isUsed: lane.used.contains(name))
    }
    if withMany { entries.append(("many changes", "many", true)) }
    var x = Axis.left
    for entry in entries {
      // Entries stand in columns; one with a long name takes two.
      let needed = 18 + entry.name.width(fontSize: Style.stateSize) + 6
      let width = (needed / Self.legendColumn).rounded(.up) * Self.legendColumn
      if x + width > Axis.right + 1 {
        x = Axis.left
        height += Self.legendHeight
      }
      let colour = entry.isUsed ? entry.colour : "unused"
      let box = rect(colour, x: x + 0.5, y: height + 4.5, width: 11, height: 11, radius: 2)
      elements.append("<rect \(box)/>")
      elements.append(text(entry.name, entry.isUsed ? "" : "quiet", x: x + 18, y: height + 14))
      x += width
    }
    height += Self.legendHeight
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
    _ style: String, x: Double, y: Double, width: Double, height: Double, radius: Double
  ) -> String {
    let size = #"width="\#(decimal(width))" height="\#(decimal(height))""#
    let corners = radius > 0 ? #" rx="\#(decimal(radius))""# : ""
    return #"class="\#(style)" x="\#(decimal(x))" y="\#(decimal(y))" \#(size)\#(corners)"#
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
      counted(presses.reduce(0) { $0 + $1.times.count }, "press", "presses"),
    ]
    let start = clock.zero == 0 ? [] : ["0 s is \(shortSeconds(clock.zero)) s since 1970"]
    return (parts + start).joined(separator: " · ")
  }

  /// A description of the picture in words, for users who cannot see it.
  fileprivate var description: String {
    let machines = [("Shift", shift), ("The keyboard", keyboard)].map { name, lane in
      "\(name) changed \(counted(lane.changes, "time", "times")) and ended in \(lane.state)."
    }
    let classes = presses.map { "\($0.times.count) \($0.press.rawValue)" }
    return (machines + ["Pressed: \(classes.joined(separator: ", "))."]).joined(separator: " ")
  }
}
