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
    let shipped = CompiledTable.shipped
    let states = names(
      parts["states"], "state", shipped: replaces ? [] : shipped.stateNames,
      taken: ShiftRules().stateNames)
    let events = names(
      parts["events"], "event", shipped: replaces ? [] : shipped.eventNames,
      taken: ShiftRules(timeout: .seconds(1)).eventNames)
    let (rows, timeouts) = rows(
      parts["rows"], states.map(\.text), events.map(\.text), shipped: replaces ? [] : shipped.rows)
    let initial = initial(parts["initial"], replaces, states.map(\.text), at: node)
    guard faults.count == faultsBefore, let initial else { return false }
    do {
      let table = try CompiledTable.NamedTable(
        states: states.map(\.text), initial: initial, events: events.map(\.text), rows: rows,
        allowsUnreachable: true)
      configuration.settings.keyboard = CompiledTable(table, timeouts: timeouts)
      reportUnused(in: table, states: states, events: events)
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
    let shipped = CompiledTable.shipped
    guard replaces else { return shipped.name(of: shipped.initial) }
    fail("a table with 'replaces: true' needs an 'initial' state", at: table)
    return nil
  }

  /// The state that a value names; `nil` after an error. `isOwn` tells whether the machine is the
  /// user's own.
  mutating func state(_ node: Node, among states: [String], isOwn: Bool = false) -> String? {
    guard let name = scalar(node) else { return nil }
    if states.contains(name) { return name }
    let hint =
      isOwn && nearest(to: name, among: states) == nil
      ? "; each state has a line below 'rows:', such as '\(name): {}'" : ""
    fail("unknown state '\(name)'; \(suggestion(for: name, among: states))\(hint)", at: node)
    return nil
  }

  /// The shipped names, then the names in `list`. Reports names that are invalid or in `taken`.
  private mutating func names(
    _ list: Node?, _ what: String, shipped: [String], taken: [String]
  ) -> [Name] {
    var names: [Name] = shipped.map { ($0, nil) }
    var known = Set(shipped)
    for node in list?.elements ?? [] {
      guard let text = scalar(node) else { continue }
      if !isUsable(text, at: node) {
        continue
      } else if taken.contains(text) {
        fail(
          "'\(text)' is \(what == "state" ? "a state" : "an event") of the Shift machine", at: node)
      } else if names.count == CompiledTable.maxNames, !known.contains(text) {
        fail("there are more than \(CompiledTable.maxNames) \(what)s", at: node)
        break
      } else if known.insert(text).inserted {
        names.append((text, node))
      }
    }
    return names
  }

  /// Whether `text` can be the name of a state or an event; reports an error if not.
  mutating func isUsable(_ text: String, at node: Node) -> Bool {
    if !isName(text) {
      fail(
        "'\(text)' is not a valid name: use a letter, then up to \(CompiledTable.maxNameBytes - 1) "
          + "letters, digits, '-' or '_'", at: node)
      return false
    }
    let reserved = [Change.configured: "by a new configuration", CompiledTable.timedOut: "by time"]
    guard let cause = reserved[text] else { return true }
    fail("'\(text)' is reserved for changes \(cause)", at: node)
    return false
  }

  /// Whether `text` needs no escapes in JSON, in the name of a unit and in a class of CSS, and is
  /// short enough for the memory that keeps the states.
  private func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= CompiledTable.maxNameBytes else {
      return false
    }
    return isLetter(first)
      && text.utf8.allSatisfy { byte in
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }

  /// The shipped rows, then the rows in `node`, and the timeouts by the names of their states.
  private mutating func rows(
    _ node: Node?, _ states: [String], _ events: [String], shipped: [CompiledTable.Row]
  ) -> ([CompiledTable.Row], [String: CompiledTable.Timeout]) {
    var rows = shipped
    var timeouts: [String: CompiledTable.Timeout] = [:]
    let ofStates = node.map { members(of: $0, "rows", known: states, each: "state") } ?? [:]
    for state in states {
      guard let all = ofStates[state] else { continue }
      let (node, timeout) = rowsByEvents(all, states)
      timeouts[state] = timeout
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
    if let node { checkCircles(timeouts, at: node) }
    return (rows, timeouts)
  }

  /// Separates a state's rows by events from its row by time, such as `after 10m: silent`.
  mutating func rowsByEvents(
    _ node: Node, _ states: [String], isOwn: Bool = false
  ) -> (byEvents: Node, timeout: CompiledTable.Timeout?) {
    guard case .mapping(let pairs) = node.content else { return (node, nil) }
    var timeout: CompiledTable.Timeout?
    var isTimed = false
    let byEvents = pairs.filter { pair in
      let words = pair.key.text?.split(separator: " ").map(String.init) ?? []
      guard words.first == "after" else { return true }
      if isTimed {
        fail("a state has one row by time at most", at: pair.key)
      } else if words.count != 2 {
        fail("write the time behind 'after', such as 'after 10m'", at: pair.key)
      } else if let time = duration(
        words[1], at: pair.key, from: .milliseconds(1), upTo: .seconds(86_400)),
        let next = state(pair.value, among: states, isOwn: isOwn)
      {
        timeout = CompiledTable.Timeout(after: time, next: next)
      }
      isTimed = true
      return false
    }
    return (Node(content: .mapping(byEvents), mark: node.mark), timeout)
  }

  /// Reports circles of rows by time: after a suspend, a machine would walk a circle many times.
  mutating func checkCircles(_ timeouts: [String: CompiledTable.Timeout], at node: Node) {
    for state in timeouts.keys.sorted() {
      var path = [state]
      while let next = timeouts[path[path.count - 1]]?.next, path.count <= timeouts.count {
        path.append(next)
        guard next == state else { continue }
        // Each circle is reported once, for its first state by name.
        if path.min() == state {
          let circle = path.joined(separator: ", ")
          fail(
            "rows by time alone lead in a circle: \(circle); let an event lead out of it", at: node)
        }
        break
      }
    }
  }

  /// Reports listed states that are unreachable, and listed events that no row uses.
  private mutating func reportUnused(
    in table: CompiledTable.NamedTable, states: [Name], events: [Name]
  ) {
    // A table with all shipped rows extends the shipped table, even with the `replaces: true` that
    // `--print-config` writes. Shipped states that are unreachable in such a table are no fault.
    let shipped = CompiledTable.shipped
    let isExtended = shipped.rows.allSatisfy(table.rows.contains)
    let unreachable = Set(configuration.settings.keyboard.unreachableStates)
      .subtracting(isExtended ? shipped.stateNames : [])
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
