import Keyboards
public import System
public import Terminal

/// A drop-in that comes with keymoded. A person may install it with a key of her own.
public struct Recipe: Sendable {
  /// The name of its file without `.yaml`.
  public let name: String
  private let text: String

  /// The recipe of this name, with this text.
  public init(name: String, text: String) { (self.name, self.text) = (name, text) }

  /// All recipes in a folder, in the order of their names.
  public static func all(in folder: String) throws(SystemError) -> [Recipe] {
    try names(inFolder: folder).sorted().map { name throws(SystemError) in
      let bytes = try contents(of: "\(folder)/\(name)", limit: ConfigurationText.sizeLimit) ?? []
      return Recipe(name: String(name.dropLast(5)), text: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// The purpose of the recipe: the first sentence of the comment at the beginning of its file.
  public var summary: String {
    let comment = text.split(separator: "\n").prefix { $0.hasPrefix("#") }
      .map { $0.drop { "# ".contains($0) } }.joined(separator: " ")
    return comment.occurrences(of: ". ").first.map { "\(comment[..<$0.lowerBound])." } ?? comment
  }

  /// The key or chord of its first binding, without `Any` and the trigger; `nil` without bindings.
  public var key: String? {
    guard let bindings = text.occurrences(of: "bindings:").first,
      let list = text[bindings.upperBound...].firstIndex(of: "[")
    else { return nil }
    let first = text[text.index(after: list)...].prefix { !",]".contains($0) }
    return ChordText(String(first)).names.drop { $0 == "Any" }.joined(separator: "+")
  }

  /// The text in which `key` replaces the recipe's own key, in comments too. If either key is
  /// `nil`, the text stays as it is. A chord also replaces an `Any+` before the own key; a single
  /// key leaves the `Any+` there.
  public func text(with key: String?) -> String {
    guard let key, let own = self.key else { return text }
    func isInName(_ character: Character?) -> Bool {
      character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }
    var result = text
    // Replaces from the end, so that the earlier places stay valid.
    for place in text.occurrences(of: own).reversed() {
      let (before, after) = (text[..<place.lowerBound], text[place.upperBound...])
      guard !isInName(before.last), !isInName(after.first) else { continue }
      let isWhole = key.contains("+") && before.hasSuffix("Any+")
      let start = isWhole ? text.index(place.lowerBound, offsetBy: -4) : place.lowerBound
      result.replaceSubrange(start..<place.upperBound, with: key)
    }
    return result
  }

  /// The name of the key or chord that is written as `key`.
  ///
  /// - Throws: an error if no configuration can bind `key`, or if `key` includes a trigger.
  public static func name(ofKey key: String) throws(UsageError) -> String {
    guard ChordText(key).rest.isEmpty else {
      throw UsageError("'\(key)' is neither a key, such as F9, nor a chord, such as Ctrl+Space")
    }
    let text =
      "keyboard: { bindings: { clickSwitchButton: [\(scalar(key))], "
      + "clickMoreButton: [], tapTextField: [], tapBlankArea: [] } }"
    do throws(ConfigurationErrors) {
      let settings = try Configuration(parsing: Array(text.utf8), file: "").settings
      return settings.bindings.chords.first?.shortName ?? key
    } catch {
      throw UsageError("\(error.errors[0].message)")
    }
  }
}

extension String {
  /// Where `text` occurs in this string, in order.
  fileprivate func occurrences(of text: String) -> [Range<Index>] {
    indices.filter { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
  }
}

extension ConfigurationText {
  /// The files that ``withDropIns(at:mayWait:)`` would return if the drop-in `name` had this text.
  /// If `text` is `nil`, the drop-in does not exist.
  public static func withDropIns(
    at path: String?, if name: String, had text: String?
  ) throws(ConfigurationErrors) -> [ConfigurationText] {
    let new = text.map { [ConfigurationText(name: name, bytes: Array($0.utf8))] } ?? []
    // The main file stays first, because the others' names begin with its name.
    let files = (try withDropIns(at: path).filter { $0.name != name } + new).sorted {
      $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
    }
    let size = files.reduce(0) { $0 + $1.bytes.count }
    let dropIns = files.count { $0.name != (path ?? Configuration.systemPath) }
    guard dropIns <= maxDropIns, size <= sizeLimit else {
      throw ConfigurationErrors(file: name, "with it, the configuration is too large")
    }
    return files
  }
}
