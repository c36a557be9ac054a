/// The text of a binding, split into the names of a chord's keys and the text after the chord:
/// `Ctrl + V release` has the names `Ctrl` and `V`, and the rest `release`.
///
/// Spaces may be around a `+`. A name ends at any other space.
struct ChordText {
  /// The names between the plus signs; a missing name is empty.
  let names: [String]
  /// The words after the chord, with one space between them.
  let rest: String

  init(_ text: String) {
    var words = text.split(separator: " ")[...]
    var chord = words.popFirst() ?? ""
    while let word = words.first, chord.hasSuffix("+") || word.hasPrefix("+") {
      chord += word
      words.removeFirst()
    }
    names = chord.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    rest = words.joined(separator: " ")
  }
}
