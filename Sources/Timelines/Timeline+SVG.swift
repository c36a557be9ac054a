extension Timeline {
  /// The width of the picture in its own units, which are pixels unless a viewer scales it.
  static let pictureWidth = 800.0

  /// The picture, a self-contained SVG document of less than 300 kB.
  ///
  /// It has a lane for each machine, a row of ticks for each class of presses, an axis in seconds
  /// and a legend. It follows the viewer's light or dark mode. Every span of a lane has a tooltip
  /// with its state, its times and its duration.
  ///
  /// - Parameter title: the heading, such as the recording's name. Any text is allowed.
  public func svg(title: String) -> String {
    var picture = Picture(of: self)
    picture.draw()
    let heading = title.clipped(
      toWidth: Self.pictureWidth - 2 * Picture.edge, fontSize: Style.titleSize)
    let height = decimal(picture.height)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 \(height)" width="800" height="\(height)" \
      role="img">
      <title>\(title.clipped(to: 200).escaped)</title>
      <desc>\(description.escaped)</desc>
      <style>
      \(Style.sheet)
      </style>
      <defs><pattern id="many" width="6" height="6" patternUnits="userSpaceOnUse" \
      patternTransform="rotate(45)">
      <rect class="many0" width="6" height="6"/><path class="many1" d="M2 0v6"/>
      </pattern></defs>
      <rect class="paper" x="0.5" y="0.5" width="799" height="\(decimal(picture.height - 1))" rx="6"/>
      <text class="title" x="\(decimal(Picture.edge))" y="30">\(heading.escaped)</text>
      <text class="quiet" x="\(decimal(Picture.edge))" y="50">\(summary)</text>
      \(picture.elements.joined(separator: "\n"))
      </svg>

      """
  }

  /// The duration, and the numbers of changes and presses, on one line.
  private var summary: String {
    guard let period else { return "Nothing was recorded." }
    let parts = [
      "\(shortSeconds(period.upperBound - period.lowerBound)) s",
      counted(shift.changes + keyboard.changes, "change", "changes"),
      counted(presses.reduce(0) { $0 + $1.count }, "press", "presses"),
    ]
    let start = zero == 0 ? [] : ["0 s is \(shortSeconds(zero)) s since 1970"]
    return (parts + start).joined(separator: " · ")
  }

  /// A description of the picture in words, for users who cannot see it.
  private var description: String {
    let machines = [("Shift", shift), ("The keyboard", keyboard)].map { name, lane in
      "\(name) changed \(counted(lane.changes, "time", "times")) and ended in \(lane.state)."
    }
    let classes = Press.allCases.map { "\(presses[$0.rawValue].count) \($0.name)" }
    return (machines + ["Pressed: \(classes.joined(separator: ", "))."]).joined(separator: " ")
  }
}

extension Timeline.Press {
  /// The label of its row.
  var name: String {
    switch self {
    case .shift: "Shift keys"
    case .bound: "bound keys"
    case .character: "characters"
    case .other: "other keys"
    }
  }
}
