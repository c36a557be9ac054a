/// The drawing below the heading, built from top to bottom.
struct Picture {
  /// The distance of text from the picture's left and right edges.
  static let edge = 16.0
  /// Adjacent spans narrower than this many pixels are merged.
  private static let grain = 3.0
  private static let laneTop = 66.0
  private static let laneHeight = 36.0
  private static let laneGap = 8.0
  private static let rowHeight = 16.0
  private static let legendHeight = 20.0
  private static let legendColumn = (Axis.right - Axis.left) / 4

  /// The elements so far, one line each, and their height.
  private(set) var elements: [String] = []
  private(set) var height = laneTop

  private let timeline: Timeline
  private let axis: Axis
  private var showsMany = false

  init(of timeline: Timeline) {
    self.timeline = timeline
    axis = Axis(period: timeline.period ?? 0...1, zero: timeline.zero)
  }

  mutating func draw() {
    let grid = elements.count
    drawLane("Shift", timeline.shift, Style.shift)
    drawLane("Keyboard", timeline.keyboard, Style.keyboard)
    height += 2
    for press in Timeline.Press.allCases { drawRow(press) }
    drawAxis(gridAt: grid)
    height += 16
    drawLegend("Shift", timeline.shift, Style.shift)
    drawLegend("Keyboard", timeline.keyboard, Style.keyboard)
    height += 10
  }

  // MARK: Lanes

  private mutating func drawLane(_ name: String, _ lane: Lane, _ colours: [Int]) {
    let middle = height + Self.laneHeight / 2
    add(text(name, "lane", x: Self.edge, y: middle + 4))
    let spans = lane.spans(in: axis.period, grain: axis.duration(ofPixels: Self.grain))
    let ends = spans.dropFirst().map(\.start) + [axis.period.upperBound]
    let placed = zip(spans, ends).map { span, end in
      (span: span, end: end, isWide: axis.x(end) - axis.x(span.start) >= Self.grain)
    }
    // Narrow spans are drawn last, on top of their neighbours, so that they are visible.
    for isWide in [true, false] {
      for part in placed where part.isWide == isWide {
        drawSpan(part.span, end: part.end, lane, colours)
      }
    }
    height += Self.laneHeight + Self.laneGap
  }

  private mutating func drawSpan(_ span: Lane.Span, end: Int64, _ lane: Lane, _ colours: [Int]) {
    let length = axis.x(end) - axis.x(span.start)
    let isWide = length >= Self.grain
    let width = isWide ? length : max(length, span.state == nil ? 2 : 1)
    let x = min(axis.x(span.start), Axis.right - width)
    let name = span.state.map { lane.names[$0] }
    let colour = span.state.map { "c\(colours[$0 % colours.count])" } ?? "many"
    showsMany = showsMany || span.state == nil
    let what = name ?? counted(span.states - 1, "change", "changes")
    let shownEnd = min(end, timeline.period?.upperBound ?? span.start)
    let times = "\(axis.text(span.start)) to \(axis.text(shownEnd)) s"
    let duration = seconds(shownEnd - span.start, digits: 6)
    let box = rect(
      isWide ? "span \(colour)" : colour, x: x, y: height, width: width, height: Self.laneHeight,
      radius: isWide ? 3 : 0)
    add("<rect \(box)><title>\(what.escaped), \(times) (\(duration) s)</title></rect>")
    if let name { drawLabel(name, colour, x: x + width / 2, width: width - 8) }
  }

  /// Draws the name of a state in its span: on one line, on two, or not at all.
  private mutating func drawLabel(_ name: String, _ colour: String, x: Double, width: Double) {
    let (size, small) = (Style.stateSize, Style.smallSize)
    let middle = height + Self.laneHeight / 2
    let classes = "middle on\(colour == "c0" ? " on0" : "")"
    if name.width(fontSize: size) <= width {
      add(text(name, classes, x: x, y: middle + 4))
    } else if let (first, second) = name.brokenAtCapital,
      max(first.width(fontSize: small), second.width(fontSize: small)) <= width
    {
      add(text(first, "small \(classes)", x: x, y: middle - 3))
      add(text(second, "small \(classes)", x: x, y: middle + 10))
    }
  }

  // MARK: Presses and time

  private mutating func drawRow(_ press: Timeline.Press) {
    let presses = timeline.presses[press.rawValue]
    let middle = height + Self.rowHeight / 2
    let quiet = presses.count == 0 ? " quiet" : ""
    add(text(press.name, "small\(quiet)", x: Self.edge, y: middle + 4))
    let base = "M\(decimal(Axis.left)) \(decimal(middle))H\(decimal(Axis.right))"
    add(#"<path class="grid" d="\#(base)"/>"#)
    // Ticks lie on half pixels. A tick less than a pixel from the one before would touch it: it
    // would not be visible and would only make the file longer.
    var columns: [Double] = []
    for time in presses.times {
      let column = (axis.x(time) * 2).rounded() / 2
      if columns.last.map({ column - $0 >= 1 }) ?? true { columns.append(column) }
    }
    if !columns.isEmpty {
      let ticks = columns.map { "M\(decimal($0)) \(decimal(middle - 5))v10" }.joined()
      let title = "\(press.name): \(counted(presses.count, "press", "presses"))"
      add(#"<path class="press" d="\#(ticks)"><title>\#(title)</title></path>"#)
    }
    height += Self.rowHeight
  }

  /// Draws the axis, and inserts the grid at this index in `elements`, below all that it crosses.
  private mutating func drawAxis(gridAt place: Int) {
    height += 4
    // An empty timeline has no times to label.
    let marks = timeline.period == nil ? [] : axis.marks
    let lines = marks.map { "M\(decimal($0.x)) \(decimal(Self.laneTop))V\(decimal(height))" }
    let teeth = marks.map { "M\(decimal($0.x)) \(decimal(height))v4" }
    if !marks.isEmpty {
      elements.insert(#"<path class="grid" d="\#(lines.joined())"/>"#, at: place)
    }
    let base = "M\(decimal(Axis.left)) \(decimal(height))H\(decimal(Axis.right))"
    add(#"<path class="axis" d="\#(base + teeth.joined())"/>"#)
    for mark in marks { add(text(mark.label, "mark", x: mark.labelX, y: height + 17)) }
    height += 20
  }

  // MARK: The legend

  private mutating func drawLegend(_ name: String, _ lane: Lane, _ colours: [Int]) {
    add(text(name, "lane", x: Self.edge, y: height + 14))
    var x = Axis.left
    var entries = lane.names.enumerated().map { index, name in
      (
        name: name.clipped(to: Lane.longestName), colour: "c\(colours[index % colours.count])",
        isUsed: lane.used.contains(index)
      )
    }
    if showsMany && name == "Keyboard" { entries.append(("many changes", "many", true)) }
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
      add("<rect \(box)/>")
      add(text(entry.name, entry.isUsed ? "" : "quiet", x: x + 18, y: height + 14))
      x += width
    }
    height += Self.legendHeight
  }

  // MARK: Elements

  private mutating func add(_ element: String) { elements.append(element) }

  private func text(_ text: String, _ style: String, x: Double, y: Double) -> String {
    let style = style.isEmpty ? "" : #" class="\#(style)""#
    return #"<text\#(style) x="\#(decimal(x))" y="\#(decimal(y))">\#(text.escaped)</text>"#
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
