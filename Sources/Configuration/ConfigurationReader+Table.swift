import KeyboardModes
import Linux
import Terminal

/// The keyboard machine's table:
///
///     table:
///       states: [showingStickers]
///       events: [clickStickerButton]
///       rows:
///         editingText: { clickStickerButton: showingStickers }
///         showingStickers: { clickStickerButton: editingText }
///
/// It extends the shipped table or, with `replaces: true` and an `initial` state, replaces it.
extension ConfigurationReader {
  /// A name, and its node in the file; `nil` for a name of the shipped table.
  private typealias Name = (text: String, node: Node?)

  mutating func readTable(_ node: Node) {
    let parts = members(
      of: node, "table", known: ["replaces", "initial", "states", "events", "rows"])
    guard !parts.isEmpty else { return }
    let faultsBefore = faults.count
    let replaces = parts["replaces"].map { isTrue($0) } ?? false
    let shipped = KeyboardTable.standard
    let states = names(
      parts["states"], "state", shipped: replaces ? [] : shipped.stateNames,
      taken: ShiftRules().stateNames)
    let events = names(
      parts["events"], "event", shipped: replaces ? [] : shipped.eventNames,
      taken: ShiftRules(timeout: .seconds(1)).eventNames)
    let added = parts["rows"].map { rows($0, states.map(\.text), events.map(\.text)) } ?? []
    let initial = initial(parts["initial"], replaces, at: node)
    guard
      let table = table(
        states, events, initial, shipped: replaces ? [] : shipped.rows, added: added, at: node)
    else { return }
    // Even with errors, the bindings and LEDs that follow are checked against this table.
    configuration.settings.keyboard = KeyboardTable(table)
    if faults.count == faultsBefore { check(table, states: states, events: events) }
  }

  /// The table with these parts, whose faults are reported. If there are any, the table has no
  /// rows; without a state, there is no table.
  private mutating func table(
    _ states: [Name], _ events: [Name], _ initial: Name?, shipped: [KeyboardTable.Row],
    added: [(row: KeyboardTable.Row, node: Node)], at node: Node
  ) -> KeyboardTable.Source? {
    let names = states.map(\.text)
    guard let first = initial?.text ?? names.first else { return nil }
    let nodes = Dictionary(uniqueKeysWithValues: added)
    var rows = shipped + added.map(\.row)
    let found = KeyboardTable.Source.faults(
      states: names, initial: first, events: events.map(\.text), rows: rows)
    for fault in found {
      switch fault {
      case .unknownState(let name, in: let row):
        failUnknown(name, among: names, at: nodes[row] ?? node)
      case .unknownInitialState(let name):
        failUnknown(name, among: names, at: initial?.node ?? node)
      case .twoRows(let first, let second):
        fail(
          "\(first.event) already leads from \(first.state) to \(first.next); to change shipped "
            + "rows, write a whole table with 'replaces: true'", at: nodes[second] ?? node)
      case .unknownEvent, .unknownFinalState, .sameName, .repeatedEvent, .unreachableState, .noRow:
        fail("\(fault)", at: node)
      }
    }
    if !found.isEmpty { rows = [] }
    return try? KeyboardTable.Source(
      states: names, initial: found.isEmpty ? first : names.first ?? first,
      events: events.map(\.text), rows: rows, allowsUnreachable: true)
  }

  /// The initial state; `nil` if an error about it has been reported.
  private mutating func initial(_ initial: Node?, _ replaces: Bool, at table: Node) -> Name? {
    if let initial { return scalar(initial).map { ($0, initial) } }
    let shipped = KeyboardTable.standard
    guard replaces else { return (shipped.name(of: shipped.initial), nil) }
    fail("a table with 'replaces: true' needs an 'initial' state", at: table)
    return nil
  }

  /// The shipped names, and then those of a list.
  private mutating func names(
    _ list: Node?, _ what: String, shipped: [String], taken: [String]
  ) -> [Name] {
    var names: [Name] = shipped.map { ($0, nil) }
    let isShipped = Set(shipped)
    var files: [String: Int] = [:]
    for node in list?.elements ?? [] {
      guard let text = scalar(node) else { continue }
      guard isName(text) else {
        fail(
          "'\(text)' is not a valid name: use a letter, then up to \(KeyboardTable.longestName - 1) letters, "
            + "digits, '-' or '_'", at: node)
        continue
      }
      if text == Change.configured {
        fail("'\(text)' is reserved for changes by a new configuration", at: node)
      } else if taken.contains(text) {
        fail(
          "'\(text)' is \(what == "state" ? "a state" : "an event") of the Shift machine", at: node)
      } else if isShipped.contains(text) || files[text] == node.mark.file {
        let place = isShipped.contains(text) ? "the shipped table" : "this list"
        fail("'\(text)' is already in \(place)", at: node)
      } else if files.updateValue(node.mark.file, forKey: text) != nil {
        // Two files may add the same name.
        continue
      } else if names.count == KeyboardTable.most {
        fail("there are more than \(KeyboardTable.most) \(what)s", at: node)
        break
      } else {
        names.append((text, node))
      }
    }
    return names
  }

  /// Whether `text` is a name that programs can transmit and store, and can use as the name of a
  /// class or a variable.
  private func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= KeyboardTable.longestName else {
      return false
    }
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    return isLetter(first)
      && text.utf8.allSatisfy { byte in
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }

  private mutating func rows(
    _ node: Node, _ states: [String], _ events: [String]
  ) -> [(row: KeyboardTable.Row, node: Node)] {
    var rows: [(row: KeyboardTable.Row, node: Node)] = []
    let ofStates = members(of: node, "rows", known: states, each: "state")
    for state in states {
      guard let node = ofStates[state] else { continue }
      let ofEvents = members(of: node, "'\(state)'", known: events, each: "event")
      for event in events {
        guard let node = ofEvents[event], let next = scalar(node) else { continue }
        rows.append((.init(state, event, next), node))
      }
    }
    return rows
  }

  private mutating func failUnknown(_ state: String, among states: [String], at node: Node) {
    fail("unknown state '\(state)'; \(suggestion(for: state, among: states))", at: node)
  }

  /// Reports declared states that are unreachable, and declared events that no row uses.
  private mutating func check(_ table: KeyboardTable.Source, states: [Name], events: [Name]) {
    let unreachable = table.unreachableStates
    let initial = table.initial
    for (state, node) in states where unreachable.contains(state) {
      // A shipped state has no place in the file at which to report it.
      guard let node else { continue }
      fail("'\(state)' cannot be reached from the initial state '\(initial)'", at: node)
    }
    let used = Set(table.rows.map(\.event))
    for (event, node) in events where !used.contains(event) {
      if let node { fail("no row uses the event '\(event)'", at: node) }
    }
  }
}
