/// Text that a program shows to people, on a terminal or in a log.
///
/// It is written as a literal. Values interpolated into the literal (names, paths, text from the
/// daemon or a file) pass through ``printable(_:)``, so that untrusted text cannot control the
/// terminal:
///
///     printToStandardError("unknown state '\(name)';\nthe states are \(listed(names))")
///
/// Only literals, and formats that the user wrote, contain line ends and control sequences.
public struct TerminalText: Hashable, Sendable, ExpressibleByStringInterpolation {
  fileprivate var text: String

  /// A literal, unchanged.
  public init(stringLiteral text: String) { self.text = text }

  /// A literal with its interpolated values.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// A text that is shown unchanged, because the user asked for it.
  public init(verbatim text: String) { self.text = text }

  /// The two texts joined.
  public static func + (first: TerminalText, second: TerminalText) -> TerminalText {
    TerminalText(verbatim: first.text + second.text)
  }

  /// A literal that is being put together.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// An empty literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity)
    }

    /// Adds a part of the literal itself.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a text unchanged: its own interpolated values are printable already.
    public mutating func appendInterpolation(_ other: TerminalText) { text += other.text }

    /// Adds any other value: its ``TerminalTextConvertible/text`` if it has one, otherwise its
    /// ``printable(_:)`` description.
    public mutating func appendInterpolation<Value>(_ value: Value) {
      let own = (value as? any TerminalTextConvertible)?.text.text
      text += own ?? printable("\(value)")
    }
  }
}

extension TerminalText: CustomStringConvertible {
  /// The text as a string, ready to be written to a terminal.
  public var description: String { text }
}

extension Sequence<TerminalText> {
  /// The texts joined, with `separator` between them.
  public func joined(separator: TerminalText = "") -> TerminalText {
    TerminalText(verbatim: map(\.text).joined(separator: separator.text))
  }
}

/// A value with a text for people, such as an error.
public protocol TerminalTextConvertible: CustomStringConvertible {
  /// The text for people.
  var text: TerminalText { get }
}

extension TerminalTextConvertible {
  /// The ``text`` as a string.
  public var description: String { text.description }
}

/// Makes an untrusted text safe to show: replaces each control character, line or paragraph
/// separator and invisible character with U+FFFD. Invisible characters can reverse the direction of
/// a text or make two different texts look the same.
public func printable(_ text: String) -> String {
  guard !text.unicodeScalars.allSatisfy({ $0.isShown }) else { return text }
  return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isShown ? $0 : "\u{fffd}" }))
}

extension Unicode.Scalar {
  /// Whether the character is visible, or a space, and does not change how nearby text looks.
  public var isShown: Bool {
    // Nearly every character is ASCII, and looking up the properties of a character takes long.
    if isASCII { return 0x20..<0x7f ~= value }
    if properties.isDefaultIgnorableCodePoint { return false }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return false
    default: return true
    }
  }
}
