import SystemCalls

/// Lines of columns, as people read them on a terminal.
enum Table {
  /// How many columns a terminal has that nobody made wider.
  private static let width = 80

  /// A line for each row, its parts below those of the other rows, and the last one cut to fit.
  static func lines(_ rows: [[String]]) -> [TerminalText] {
    let rows = rows.map { $0.map(printable) }
    let widths = rows.reduce(into: [Int]()) { widths, row in
      for (column, text) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], text.count)
      }
    }
    return rows.map { row in
      let line = row.enumerated().map { column, text in
        guard column + 1 < row.count else { return text }
        return text + String(repeating: " ", count: widths[column] - text.count)
      }.joined(separator: "  ")
      return line.count <= width ? "\(line)" : "\(line.prefix(width - 1))…"
    }
  }
}
