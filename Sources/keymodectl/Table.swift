/// Lines of columns, as people read them on a terminal.
enum Table {
  /// How many columns a terminal has that nobody made wider.
  private static let width = 80

  /// A line for each row, its parts below those of the other rows, and the last one cut to fit.
  static func lines(_ rows: [[String]]) -> [String] {
    rows.map { row in
      let line = row.enumerated().map { column, text in
        guard column + 1 < row.count else { return text }
        let widest = rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        return text + String(repeating: " ", count: widest - text.count)
      }.joined(separator: "  ")
      return line.count <= width ? line : line.prefix(width - 1) + "…"
    }
  }
}
