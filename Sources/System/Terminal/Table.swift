import Glibc

/// Text in columns, for a terminal.
public enum Table {
  /// The usual width of a terminal, in columns.
  private static let width = 80

  /// One line for each row. The cells of a column begin at the same place, and a line of more than
  /// 80 characters is cut.
  public static func lines(_ rows: [[String]]) -> [TerminalText] {
    let rows = rows.map { $0.map(printable) }
    let widths = rows.reduce(into: [Int]()) { widths, row in
      for (column, text) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], text.count)
      }
    }
    return rows.map { row in
      let line = row.enumerated().map { column, text in
        column + 1 < row.count ? padded(text, widths[column]) : text
      }.joined(separator: "  ")
      return line.count <= width ? "\(line)" : "\(line.prefix(width - 1))\(Sign.ellipsis)"
    }
  }
}

/// The result of ``lines(of:width:)``, joined by line ends.
public func wrapped(_ words: [String], width: Int = 79) -> TerminalText {
  lines(of: words, width: width).joined(separator: "\n")
}

/// The words, separated by spaces, in lines of at most `width` characters unless one word
/// is longer.
public func lines(of words: [String], width: Int = 79) -> [TerminalText] {
  words.map(printable).reduce(into: [""]) { lines, word in
    let last = lines[lines.count - 1]
    if last.isEmpty {
      lines[lines.count - 1] = word
    } else if last.count + 1 + word.count <= width {
      lines[lines.count - 1] = "\(last) \(word)"
    } else {
      lines.append(word)
    }
  }.map { "\($0)" }
}

extension TerminalText {
  /// The text, with lines broken at spaces if standard output is a terminal of fewer than 80
  /// columns. A line that is indented by more than 20 spaces continues the line before it.
  public var fitted: TerminalText {
    guard isatty(STDOUT_FILENO) == 1, Terminal.size.columns < 80 else { return self }
    let columns = Terminal.size.columns
    var paragraphs: [(indent: Int, words: [String])] = []
    for line in description.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(separator: " ").map(String.init)
      let indent = line.prefix { $0 == " " }.count
      if indent > 20, !paragraphs.isEmpty {
        paragraphs[paragraphs.count - 1].words += words
      } else {
        paragraphs.append((indent, words))
      }
    }
    return paragraphs.flatMap { indent, words in
      lines(of: words, width: columns - indent).map { line -> TerminalText in
        line.description.isEmpty ? "" : "\(String(repeating: " ", count: indent))\(line)"
      }
    }.joined(separator: "\n")
  }
}
