/// How files are merged: see DROP-INS in keymoded.yaml(5).
extension Node {
  /// The lists to which a later file adds; it replaces all others.
  private static let united = ["keyboard.table.states", "keyboard.table.events", "devices.ignore"]

  /// This value with that of a later file.
  ///
  /// Mappings are merged, and any other value is replaced, unless the later one is empty. A table
  /// that replaces the shipped one replaces earlier files' tables, too. A key that occurs twice in
  /// one file also occurs twice in the result, so that it is found to be an error.
  ///
  /// - Parameter path: the names that lead to this value, such as `keyboard.table`.
  func merged(with later: Node, at path: String = "") -> Node {
    if later.content == .scalar("") { return self }
    if Self.united.contains(path) {
      return Node(content: .sequence(elements + later.elements), mark: later.mark)
    }
    guard case .mapping(var pairs) = content, case .mapping(let added) = later.content,
      path != "keyboard.table" || !later.replacesTable
    else { return later }
    var places = Dictionary(
      pairs.enumerated().compactMap { place, pair in pair.key.text.map { ($0, place) } },
      uniquingKeysWith: { first, _ in first })
    for pair in added {
      guard let name = pair.key.text, let place = places.removeValue(forKey: name) else {
        pairs.append(pair)
        continue
      }
      let value = pairs[place].value.merged(
        with: pair.value, at: path.isEmpty ? name : "\(path).\(name)")
      pairs[place] = Pair(key: pair.key, value: value)
    }
    return Node(content: .mapping(pairs), mark: later.mark)
  }

  private var replacesTable: Bool {
    ["yes", "true"].contains(self["replaces"]?.text)
  }
}

extension Node {
  /// The text of a scalar; `nil` for any other value.
  var text: String? {
    guard case .scalar(let text) = content else { return nil }
    return text
  }

  /// The values of a list; a single value is a list of one.
  var elements: [Node] {
    switch content {
    case .sequence(let nodes): nodes
    case .scalar(""): []
    case .scalar, .mapping: [self]
    }
  }

  /// The value with this name in a mapping.
  subscript(name: String) -> Node? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key.text == name }?.value
  }
}
