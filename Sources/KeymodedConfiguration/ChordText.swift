import Evdev
public import KeyboardModes

/// The text of a binding, split into the names of a chord's keys and the text after the chord:
/// `Ctrl + V release` has the names `Ctrl` and `V`, and the rest `release`.
///
/// Spaces may be around a `+`. A name ends at any other space.
struct ChordText {
  /// The names between the plus signs; an empty one where a name is missing.
  let names: [String]
  /// The text after the chord, without spaces around it.
  let rest: String

  init(_ text: String) {
    // A file can have very many chords, and `split` takes several times as long.
    let bytes = text.utf8
    var names: [String] = []
    var index = bytes.startIndex
    func skipSpaces() {
      while index < bytes.endIndex, bytes[index] == UInt8(ascii: " ") {
        index = bytes.index(after: index)
      }
    }
    while true {
      skipSpaces()
      let start = index
      while index < bytes.endIndex, bytes[index] != UInt8(ascii: " "),
        bytes[index] != UInt8(ascii: "+")
      { index = bytes.index(after: index) }
      names.append(String(text[start..<index]))
      skipSpaces()
      guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "+") else { break }
      index = bytes.index(after: index)
    }
    self.names = names
    var end = bytes.endIndex
    while end > index, bytes[bytes.index(before: end)] == UInt8(ascii: " ") {
      end = bytes.index(before: end)
    }
    rest = String(text[index..<end])
  }
}

extension Chord {
  /// The chord of a text such as `Ctrl+F9`; `nil` if it is none.
  public init?(written text: String) {
    let parts = ChordText(text)
    let keys = parts.names.compactMap { KeyCode(writtenAs: $0) }
    guard parts.rest.isEmpty, keys.count == parts.names.count, let chord = try? Chord(keys) else {
      return nil
    }
    self = chord
  }
}
