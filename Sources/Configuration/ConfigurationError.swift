public import Terminal

/// An error in a configuration file, with its position.
public struct ConfigurationError: Error, Hashable, TerminalTextConvertible {
  /// The file, as the user named it.
  public let file: String
  /// The position; `nil` if the error concerns the whole file.
  public let mark: Mark?
  /// What is wrong, in words.
  public let message: String

  /// `keymoded.yaml:3:14: unknown key …`
  public var text: TerminalText {
    guard let mark else { return "\(file): \(message)" }
    return "\(file):\(mark.line):\(mark.column): \(message)"
  }
}

/// The errors in a configuration file, in the order of the file; never empty.
public struct ConfigurationErrors: Error, Hashable, TerminalTextConvertible {
  /// How many errors of one file are reported; the rest are only counted.
  public static let limit = 20

  /// The first errors of the file, at most ``limit``.
  public let errors: [ConfigurationError]
  /// How many errors there are besides these.
  public let omitted: Int

  init(file: String, at mark: Mark? = nil, _ message: String) {
    errors = [ConfigurationError(file: file, mark: mark, message: message)]
    omitted = 0
  }

  init(file: String, _ faults: [Fault]) {
    errors = faults.first(Self.limit).map { fault in
      ConfigurationError(file: file, mark: fault.mark, message: fault.message())
    }
    omitted = faults.count - errors.count
  }

  /// A line for each error, and one that counts those that were omitted.
  public var lines: [TerminalText] {
    let told = errors.map(\.text)
    guard omitted > 0, let file = errors.first?.file else { return told }
    return told + ["\(file): \(omitted) more error\(omitted == 1 ? "" : "s")"]
  }

  /// The ``lines``, with a line end between them.
  public var text: TerminalText { lines.joined(separator: "\n") }
}

/// A fault in a file, and its message. A file can have as many faults as values, so the message,
/// which may need a search for a similar name, is made only for one that is reported.
struct Fault {
  let mark: Mark
  let message: () -> String
}

extension [Fault] {
  /// The first of these in the order of the file, at most `count`. Faults at the same position stay
  /// in the order in which they were found.
  func first(_ count: Int) -> [Fault] {
    let sorted = enumerated().sorted { ($0.element.mark, $0.offset) < ($1.element.mark, $1.offset) }
    return sorted.prefix(count).map(\.element)
  }
}
