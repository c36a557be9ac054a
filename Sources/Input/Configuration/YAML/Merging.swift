/// How files are merged: see DROP-INS in keymoded.yaml(5).
extension Node {
  /// A later file adds to these lists, but replaces all other lists.
  private static let united = ["keyboard.table.states", "keyboard.table.events", "devices.ignore"]

  /// The mappings that are merged name by name; `*` is any state or machine. The empty path is the
  /// whole file.
  private static let groups = [
    "", "shift", "keyboard", "keyboard.bindings", "keyboard.table", "keyboard.table.rows",
    "keyboard.table.rows.*", "machines", "machines.*", "machines.*.rows", "machines.*.rows.*",
    "machines.*.bindings", "devices", "leds",
  ]

  /// The groups in which the user chooses the names.
  private static let userNamed = ["keyboard.table.rows", "machines", "machines.*.rows"]

  /// The values of several files as one.
  ///
  /// Merges the mappings in `groups`, and joins the lists in `united`. Any other value that is not
  /// empty replaces the value of an earlier file, and so does a table with `replaces: true`. Two
  /// errors of a single file stay in the result, for `ConfigurationReader` to report: a key that
  /// occurs twice, and a group whose value is not a mapping.
  ///
  /// - Parameters:
  ///   - files: the values in the order of their files.
  ///   - path: the names that lead to this value, such as `keyboard.table`.
  static func merged(_ files: [Node], at path: String = "") -> Node? {
    guard let last = files.last(where: { !$0.isEmpty }) else { return files.last }
    if united.contains(path) {
      return Node(content: .sequence(files.flatMap(\.elements)), mark: last.mark)
    }
    guard groups.contains(path) else { return last }
    // Merges all files at once: merging two at a time would copy the result for each file.
    var merged: [(key: Node, values: [Node])] = []
    var indices: [String: (index: Int, file: Int)] = [:]
    for (file, node) in files.enumerated() where !node.isEmpty {
      guard case .mapping(let pairs) = node.content else { return node }
      if path == "keyboard.table", node["replaces"]?.isYes == true { (merged, indices) = ([], [:]) }
      for pair in pairs { add(pair, of: file) }
    }
    let pairs = merged.compactMap { key, values in
      let name = userNamed.contains(path) ? "*" : key.text ?? ""
      return Node.merged(values, at: path.isEmpty ? name : "\(path).\(name)")
        .map { Pair(key: key, value: $0) }
    }
    return Node(content: .mapping(pairs), mark: last.mark)

    func add(_ pair: Pair, of file: Int) {
      // A state has only one row by time, so a later file's row replaces one with another time.
      let isByTime = path.hasSuffix(".rows.*") && pair.key.text?.hasPrefix("after ") == true
      if let name = isByTime ? "after" : pair.key.text {
        if let (index, other) = indices[name], other != file {
          merged[index] = (pair.key, merged[index].values + [pair.value])
          indices[name] = (index, file)
          return
        }
        indices[name] = indices[name] ?? (merged.count, file)
      }
      merged.append((pair.key, [pair.value]))
    }
  }
}

extension Node {
  /// The text of a scalar; `nil` for any other value.
  var text: String? {
    guard case .scalar(let text) = content else { return nil }
    return text
  }

  /// Whether the value is empty, as in `shift:`.
  var isEmpty: Bool { text == "" }

  /// Whether the value is `yes` or `true`.
  var isYes: Bool { text == "yes" || text == "true" }

  /// The values of a list. A single value counts as a list of one, an empty value as an empty list.
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
