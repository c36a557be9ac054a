import System

/// Signs that some terminals cannot show.
public enum Sign {
  /// An arrow from left to right.
  public static let rightArrow = isUTF8 ? "→" : "->"
  /// An arrow from right to left.
  public static let leftArrow = isUTF8 ? "←" : "<-"
  /// Replaces omitted text; one column wide.
  public static let ellipsis = isUTF8 ? "…" : "."

  /// Whether the locale uses UTF-8. True without a locale, as in a service: no terminal shows the
  /// service's text. See `locale(7)`.
  private static let isUTF8: Bool = {
    let values = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment($0) }
    guard let name = values.first(where: { !$0.isEmpty })?.lowercased() else { return true }
    return name.hasSuffix("utf-8") || name.hasSuffix("utf8")
  }()
}
