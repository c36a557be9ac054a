import KeyboardModes
public import Terminal

extension WatchView {
  /// The style of a part of a line: the parameters of the control sequence SGR.
  enum Style: String {
    case plain = ""
    case faint = "2"
    case strong = "1"
    case yellow = "1;33"
    case red = "1;31"
    /// A warning, underlined: hues alone do not tell warnings apart for all people.
    case underlinedRed = "1;4;31"
    /// Another warning, with exchanged colours.
    case reversedRed = "1;7;31"
    case green = "1;32"
    case cyan = "1;36"

    /// The style of a state, by its name alone. Names that are not listed are strong.
    static func of(_ state: String) -> Style {
      switch state {
      case "off", "prepareToEditText": .plain
      case "on": .yellow
      case "capsLock": .underlinedRed
      case "prepareToRecord": .reversedRed
      case "editingText": .green
      case "showingPanel": .cyan
      default: .strong
      }
    }
  }

  /// The lines of the view.
  ///
  /// - Parameters:
  ///   - columns: the maximum length of a line, in characters.
  ///   - count: the maximum number of lines.
  ///   - isColored: whether to add control sequences for colours.
  ///   - keys: what the keys do. Shown in the last row if there are more than 5 rows; may be empty.
  public func lines(
    columns: Int, rows count: Int, isColored: Bool, keys: String = "", at now: Moment
  ) -> [TerminalText] {
    let content = content(columns: columns, isColored: isColored, at: now)
    guard !keys.isEmpty, count > 5 else { return Array(content.prefix(count)) }
    let shown = Array(content.prefix(count - 1))
    let gap = Array(repeating: "" as TerminalText, count: count - 1 - shown.count)
    return shown + gap + [WatchView.line([(0, keys, .faint)], columns, isColored)]
  }

  private func content(columns: Int, isColored: Bool, at now: Moment) -> [TerminalText] {
    // A narrow terminal shows no events, and a narrower terminal also no times of day.
    let (hasEvents, hasTimes) = (columns >= 78, columns >= 42)
    let (timeWidth, machines) = (hasTimes ? 14 : 0, machines)
    // Two machines leave room for events beside the states; more machines do not.
    var places: [MachineName: Int] = [:]
    var next = timeWidth
    for machine in machines {
      places[machine] = next
      next +=
        machines.count <= 2 ? hasEvents ? 27 : 10 : max(10, 2 + (widths[machine] ?? 0))
    }
    func line(_ parts: [(Int, String, Style)]) -> TerminalText {
      WatchView.line(parts, columns, isColored)
    }
    func column(_ machine: MachineName) -> Int { places[machine] ?? timeWidth }
    func each(_ text: (MachineName) -> (String, Style)) -> TerminalText {
      line(
        machines.map { machine in
          let part = text(machine)
          return (column(machine), part.0, part.1)
        })
    }
    let first = line([(0, connection, isConnected ? .faint : .red)])
    guard let states else {
      let words = advice.description.split(separator: " ").map(String.init)
      let wrapped = wrapped(words, width: columns).description.split(separator: "\n")
      return [first, ""] + wrapped.map { line([(0, String($0), .plain)]) }
    }
    let head = [
      first, "",
      each { ($0.rawValue, .faint) },
      each { states[$0].map { ($0, isConnected ? Style.of($0) : .faint) } ?? ("", .plain) },
      each { machine in
        (shownDuration(of: machine, at: now)?.text ?? (isConnected ? "" : "unknown"), .faint)
      },
    ]
    let history = rows.map { row in
      let column = row.machine.map(column) ?? timeWidth
      let event = hasEvents ? row.event.map { " \(Sign.leftArrow) \($0)" } : nil
      return line([
        (0, hasTimes ? row.timeOfDay : "", .faint), (column, row.text, row.style),
        (column + printable(row.text).count, event ?? "", .faint),
      ])
    }
    return head + [""] + history
  }

  /// A line of texts that begin in these columns, cut at the terminal's width.
  private static func line(_ parts: [(Int, String, Style)], _ columns: Int, _ isColored: Bool)
    -> TerminalText
  {
    var line: TerminalText = ""
    var width = 0
    for (column, text, style) in parts where !text.isEmpty && column < columns {
      if column > width {
        line = "\(line)\(String(repeating: " ", count: column - width))"
        width = column
      }
      let room = columns - width
      guard room > 0 else { break }
      let text = printable(text)
      let shown = text.count <= room ? text : text.prefix(room - 1) + Sign.ellipsis
      width += shown.count
      let isPlain = !isColored || style == .plain
      line = isPlain ? "\(line)\(shown)" : "\(line)\u{1b}[\(style.rawValue)m\(shown)\u{1b}[m"
    }
    return line
  }
}
