/// What a program says to people, on a terminal or in a log.
///
/// It is written as a literal. What is put into the literal (names, paths, what the daemon or a file
/// said) is made ``printable(_:)`` on its way, so that text of others cannot reach people as it is:
///
///     complain("unknown state '\(name)'; there are\n\(wrapped(names))")
///
/// Only the literals themselves have line ends and what terminals act on.
public struct TerminalText: Hashable, Sendable, ExpressibleByStringInterpolation {
  fileprivate var text: String

  /// The text of the program itself.
  public init(stringLiteral text: String) { self.text = text }

  /// The text of the program, and what was put into it.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// A text that is shown as it is, because it is the user's own wish.
  public init(verbatim text: String) { self.text = text }

  /// One text behind the other.
  public static func + (first: TerminalText, second: TerminalText) -> TerminalText {
    TerminalText(verbatim: first.text + second.text)
  }

  /// A literal that is being put together.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// An empty one.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity)
    }

    /// Adds what the program says.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds another text of the program.
    public mutating func appendInterpolation(_ other: TerminalText) { text += other.text }

    /// Adds what may be anything.
    public mutating func appendInterpolation<Value>(_ value: Value) {
      if let own = value as? any TerminalTextConvertible {
        text += own.text.text
      } else {
        text += printable("\(value)")
      }
    }
  }
}

extension TerminalText: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}

extension Sequence<TerminalText> {
  /// All of them, with `separator` in between.
  public func joined(separator: TerminalText = "") -> TerminalText {
    TerminalText(verbatim: map(\.text).joined(separator: separator.text))
  }
}

/// What says of itself what people are to read, such as an error.
public protocol TerminalTextConvertible: CustomStringConvertible {
  /// What people read.
  var text: TerminalText { get }
}

extension TerminalTextConvertible {
  /// What people read.
  public var description: String { text.description }
}

/// A text that somebody else made up, without what a terminal would act on, without line ends, and
/// without what cannot be seen but turns the text around or makes two of them look the same.
public func printable(_ text: String) -> String {
  // Nearly every text is so already.
  guard !text.utf8.allSatisfy({ 0x20..<0x7f ~= $0 }) else { return text }
  return String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: "\u{fffd}"
        default: scalar
        }
      }))
}
