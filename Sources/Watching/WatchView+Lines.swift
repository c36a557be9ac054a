import KeyboardModes
public import SystemCalls

extension WatchView {
  /// The look of a part of a line: the parameters of the control sequence SGR.
  private enum Look: String {
    case plain = ""
    case faint = "2"
    case strong = "1"
    case yellow = "1;33"
    case red = "1;31"
    case green = "1;32"
    case cyan = "1;36"

    /// The look of a state. States of a user's table are strong.
    static func of(_ state: String) -> Look {
      switch state {
      case "off", "prepareToEditText": .plain
      case "on": .yellow
      case "capsLock", "prepareToRecord": .red
      case "editingText": .green
      case "showingPanel": .cyan
      default: .strong
      }
    }
  }

  /// The columns. On a narrow terminal the events are left out, on a narrower one the times of day
  /// too.
  private struct Lanes {
    let clock: Int
    let shift: Int
    let hasEvents: Bool

    init(columns: Int) {
      hasEvents = columns >= 74
      clock = columns >= 38 ? 10 : 0
      shift = hasEvents ? 27 : 10
    }
  }

  /// The lines of the view.
  ///
  /// - Parameters:
  ///   - columns: the longest line, in characters.
  ///   - count: the maximum number of lines.
  ///   - isColored: whether to add control sequences for colours.
  public func lines(
    columns: Int, rows count: Int, isColored: Bool, at now: Moment
  ) -> [TerminalText] {
    let lanes = Lanes(columns: columns)
    func line(_ parts: [(Int, String, Look)]) -> TerminalText {
      WatchView.line(parts, columns, isColored)
    }
    func both(_ text: (Machine) -> (String, Look)) -> TerminalText {
      let (shift, keyboard) = (text(.shift), text(.keyboard))
      return line([
        (lanes.clock, shift.0, shift.1), (lanes.clock + lanes.shift, keyboard.0, keyboard.1),
      ])
    }
    let head = [
      line([(0, connection, isConnected ? .faint : .red)]), "",
      both { ($0.rawValue, .faint) },
      both { states[$0].map { ($0, isConnected ? Look.of($0) : .faint) } ?? ("", .plain) },
      both { machine in
        (lasting(machine, at: now)?.text ?? (isConnected ? "" : "unknown"), .faint)
      }, "",
    ]
    let history = rows.map { row in
      let clock = (0, lanes.clock > 0 ? row.clock : "", Look.faint)
      switch row.content {
      case .note(let text): return line([clock, (lanes.clock, text, .strong)])
      case .change(let change):
        let column = lanes.clock + (change.machine == .shift ? 0 : lanes.shift)
        let event = (column + printable(change.to).count, " ← \(change.event)", Look.faint)
        return line(
          [clock, (column, change.to, Look.of(change.to))] + (lanes.hasEvents ? [event] : []))
      }
    }
    let lines = head + history
    // A low terminal has no room for empty lines.
    return Array(
      (lines.count <= count ? lines : count < 12 ? lines.filter { $0 != "" } : lines)
        .prefix(count))
  }

  /// A line of texts that begin in these columns, cut at the terminal's width.
  private static func line(_ parts: [(Int, String, Look)], _ columns: Int, _ isColored: Bool)
    -> TerminalText
  {
    var line: TerminalText = ""
    var width = 0
    for (column, text, look) in parts where !text.isEmpty && column < columns {
      if column > width {
        line = "\(line)\(String(repeating: " ", count: column - width))"
        width = column
      }
      let room = columns - width
      guard room > 0 else { break }
      let text = printable(text)
      let shown = text.count <= room ? text : text.prefix(room - 1) + "…"
      width += shown.count
      let isPlain = !isColored || look == .plain
      line = isPlain ? "\(line)\(shown)" : "\(line)\u{1b}[\(look.rawValue)m\(shown)\u{1b}[m"
    }
    return line
  }
}
