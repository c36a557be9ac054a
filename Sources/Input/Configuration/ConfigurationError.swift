public import Terminal

/// An error in a configuration, with its position.
public struct ConfigurationError: Error, Hashable, TerminalTextConvertible {
  /// The name of the file, as messages show it.
  public let file: String
  /// The position; `nil` if the error concerns the whole file.
  public let mark: Mark?
  /// The description of the error, without its position.
  public let message: String
  /// The line of the file, and a mark below the wrong text; `nil` if the line cannot be shown.
  let excerpt: TerminalText?

  /// `keymoded.yaml:3:14: unknown key …`
  public var text: TerminalText {
    guard let mark else { return "\(file): \(message)" }
    return "\(file):\(mark.line):\(mark.column): \(message)"
  }
}

/// The errors in a configuration, in the order of its files; never empty.
public struct ConfigurationErrors: Error, Hashable, TerminalTextConvertible {
  /// The maximum number of errors that are reported. Further errors are only counted.
  public static let maxErrors = 20

  /// The first errors, at most ``maxErrors``.
  public let errors: [ConfigurationError]
  /// How many further errors there are.
  public let omittedCount: Int

  init(file: String, _ message: String) {
    errors = [ConfigurationError(file: file, mark: nil, message: message, excerpt: nil)]
    omittedCount = 0
  }

  init(_ files: [ConfigurationText], _ faults: [Fault]) {
    var texts: [Int: [Substring]] = [:]
    errors = faults.sortedPrefix(Self.maxErrors).map { fault in
      let (mark, file) = (fault.mark, files[fault.mark.file])
      let text = texts[mark.file] ?? splitLines(of: file.bytes[...])
      texts[mark.file] = text
      return ConfigurationError(
        file: file.name, mark: mark, message: fault.message(), excerpt: mark.excerpt(of: text))
    }
    omittedCount = faults.count - errors.count
  }

  /// A line for each error and, if errors were omitted, a line with their number.
  public var lines: [TerminalText] { errors.map(\.text) + omission }

  /// The errors, each with the line of its file and a mark below the wrong text.
  public var text: TerminalText {
    let shown = errors.flatMap { [$0.text, $0.excerpt].compactMap(\.self) }
    return (shown + omission).joined(separator: "\n")
  }

  private var omission: [TerminalText] {
    guard omittedCount > 0, let file = errors.first?.file else { return [] }
    let place: TerminalText = errors.last?.file == file ? "\(file): " : ""
    return ["\(place)\(omittedCount) more error\(omittedCount == 1 ? "" : "s")"]
  }
}

extension Mark {
  /// The maximum length of a line in an excerpt, in bytes, so that the line fits into a terminal.
  private static let maxLineBytes = 120

  /// The line, and a mark below the wrong text. `nil` if the line is empty, is too long, or has
  /// characters that may be wider or narrower than others.
  func excerpt(of lines: [Substring]) -> TerminalText? {
    // Checks the length first: a line may have 1 MiB, and searching it for each error takes long.
    guard lines.indices.contains(line - 1), lines[line - 1].utf8.count <= Self.maxLineBytes else {
      return nil
    }
    let text = String(lines[line - 1].map { $0 == "\t" ? " " : $0 })
    guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.isASCII && $0.isShown })
    else { return nil }
    let space = String(repeating: " ", count: column - 1)
    return "  \(text)\n  \(space)^\(String(repeating: "~", count: length - 1))"
  }
}

/// An error or a warning about a file. A file can have a fault in each value, and a message may
/// need a search for a similar name. So a message is made only when it is reported.
struct Fault {
  let mark: Mark
  let message: () -> String
}

extension [Fault] {
  /// The first `count` faults in the order of the files. Faults at the same position stay in the
  /// order in which they were found.
  func sortedPrefix(_ count: Int) -> [Fault] {
    let sorted = enumerated().sorted { ($0.element.mark, $0.offset) < ($1.element.mark, $1.offset) }
    return sorted.prefix(count).map(\.element)
  }
}
