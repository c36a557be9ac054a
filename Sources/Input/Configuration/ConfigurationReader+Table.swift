import KeyboardModes
import System
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

  /// Reads the table, and returns whether it has no errors.
  mutating func readTable(_ node: Node) -> Bool {
    let faultsBefore = faults.count
    let parts = members(of: node, "table", known: SettingNames.table)
    let replaces = parts["replaces"].map { isTrue($0) } ?? false
    let shipped = KeyboardTable.standard
    let states = names(
      parts["states"], "state", shipped: replaces ? [] : shipped.stateNames,
      taken: ShiftRules().stateNames)
    let events = names(
      parts["events"], "event", shipped: replaces ? [] : shipped.eventNames,
      taken: ShiftRules(timeout: .seconds(1)).eventNames)
    let rows = rows(
      parts["rows"], states.map(\.text), events.map(\.text), shipped: replaces ? [] : shipped.rows)
    let initial = initial(parts["initial"], replaces, states.map(\.text), at: node)
    guard faults.count == faultsBefore, let initial else { return false }
    do {
      let table = try KeyboardTable.Source(
        states: states.map(\.text), initial: initial, events: events.map(\.text), rows: rows,
        allowsUnreachable: true)
      configuration.settings.keyboard = KeyboardTable(table)
      check(table, states: states, events: events)
    } catch {
      fail("\(error)", at: node)
    }
    return faults.count == faultsBefore
  }

  /// The initial state; `nil` if an error about it has been reported.
  private mutating func initial(
    _ initial: Node?, _ replaces: Bool, _ states: [String], at table: Node
  ) -> String? {
    if let initial { return state(initial, among: states) }
    let shipped = KeyboardTable.standard
    guard replaces else { return shipped.name(of: shipped.initial) }
    fail("a table with 'replaces: true' needs an 'initial' state", at: table)
    return nil
  }

  /// The state that a value names; `nil` after an error.
  private mutating func state(_ node: Node, among states: [String]) -> String? {
    guard let name = scalar(node) else { return nil }
    if states.contains(name) { return name }
    fail("unknown state '\(name)'; \(suggestion(for: name, among: states))", at: node)
    return nil
  }

  /// The shipped names, and then those of a list, which may not be among `taken`.
  private mutating func names(
    _ list: Node?, _ what: String, shipped: [String], taken: [String]
  ) -> [Name] {
    var names: [Name] = shipped.map { ($0, nil) }
    var known = Set(shipped)
    for node in list?.elements ?? [] {
      guard let text = scalar(node) else { continue }
      if !isName(text) {
        fail(
          "'\(text)' is not a valid name: use a letter, then up to \(KeyboardTable.longestName - 1) letters, "
            + "digits, '-' or '_'", at: node)
      } else if text == Change.configured {
        fail("'\(text)' is reserved for changes by a new configuration", at: node)
      } else if taken.contains(text) {
        fail(
          "'\(text)' is \(what == "state" ? "a state" : "an event") of the Shift machine", at: node)
      } else if names.count == KeyboardTable.most, !known.contains(text) {
        fail("there are more than \(KeyboardTable.most) \(what)s", at: node)
        break
      } else if known.insert(text).inserted {
        names.append((text, node))
      }
    }
    return names
  }

  /// Whether `text` is a name that fits unescaped into JSON, the name of a unit and a class of CSS,
  /// and into the memory that keeps the states.
  private func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= KeyboardTable.longestName else {
      return false
    }
    return isLetter(first)
      && text.utf8.allSatisfy { byte in
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }

  /// The shipped rows, and then those of the file.
  private mutating func rows(
    _ node: Node?, _ states: [String], _ events: [String], shipped: [KeyboardTable.Row]
  ) -> [KeyboardTable.Row] {
    var rows = shipped
    let ofStates = node.map { members(of: $0, "rows", known: states, each: "state") } ?? [:]
    for state in states {
      guard let node = ofStates[state] else { continue }
      let ofEvents = members(of: node, "'\(state)'", known: events, each: "event")
      for event in events {
        guard let node = ofEvents[event], let next = self.state(node, among: states) else {
          continue
        }
        if let row = shipped.first(where: { ($0.state, $0.event) == (state, event) }) {
          fail(
            "\(event) already leads from \(state) to \(row.next); to change shipped rows, write a "
              + "whole table with 'replaces: true'", at: node)
        }
        rows.append(.init(state, event, next))
      }
    }
    return rows
  }

  /// Reports declared states that are unreachable, and declared events that no row uses.
  private mutating func check(_ table: KeyboardTable.Source, states: [Name], events: [Name]) {
    // A table with all shipped rows extends the shipped one, even if it says `replaces`, as
    // `--print-config` prints it. Shipped states that are unreachable in it are no fault.
    let shipped = KeyboardTable.standard
    let isExtended = shipped.rows.allSatisfy(table.rows.contains)
    let unreachable = Set(table.unreachableStates).subtracting(isExtended ? shipped.stateNames : [])
    for (state, node) in states where unreachable.contains(state) {
      guard let node else { continue }
      fail("'\(state)' cannot be reached from the initial state '\(table.initial)'", at: node)
    }
    let used = Set(table.rows.map(\.event))
    for (event, node) in events where !used.contains(event) {
      if let node { fail("no row uses the event '\(event)'", at: node) }
    }
  }
}
