import KeyboardModes

/// The user's own machines:
///
///     machines:
///       talk:
///         initial: silent
///         rows:
///           silent: { press: talking }
///           talking: { release: silent, after 10m: silent }
///         bindings:
///           press: [Any+F9]
///           release: [Any+F9 release]
///
/// The names in `rows` are the states. The names in each state, except `after 10m`, are events.
extension ConfigurationReader {
  /// Reads the machines, and returns whether their tables have no errors.
  mutating func readMachines(_ node: Node) -> Bool {
    guard case .mapping(let pairs) = node.content else {
      if !node.isEmpty {
        fail(
          "machines must be a mapping of names, such as 'talk: { initial: silent, rows: … }'"
            + colonHint(node.text ?? ""), at: node)
      }
      return node.isEmpty
    }
    let faultsBefore = faults.count
    var read: [(machine: Settings.TableMachine, bindings: Node?)] = []
    for pair in pairs {
      guard let name = machineName(pair.key) else { continue }
      if read.contains(where: { $0.machine.name.rawValue == name }) {
        fail("duplicate machine '\(name)'", at: pair.key)
      } else if read.count == MachineName.maxOwnMachines {
        fail("there are more than \(MachineName.maxOwnMachines) machines", at: pair.key)
      } else {
        let parts = members(of: pair.value, "'\(name)'", known: SettingNames.machine)
        guard let table = table(parts, of: name, at: pair.key) else { continue }
        read.append(
          (Settings.TableMachine(MachineName(rawValue: name), table), parts["bindings"]))
      }
    }
    read.sort { $0.machine.name < $1.machine.name }
    configuration.settings.machines += read.map(\.machine)
    let areTablesValid = faults.count == faultsBefore
    for (index, one) in read.enumerated() {
      guard let bindings = one.bindings else { continue }
      readBindings(bindings, of: 1 + index, each: "event of \(one.machine.name)")
    }
    return areTablesValid
  }

  private mutating func machineName(_ node: Node) -> String? {
    guard let name = scalar(node) else { return nil }
    if MachineName.isOwnName(name) { return name }
    fail(
      MachineName.reservedNames.contains(name)
        ? "'\(name)' cannot be the name of a machine of your own; it means something else"
        : "'\(name)' is not a valid name for a machine: use a lower-case letter, then up to "
          + "\(CompiledTable.maxNameBytes - 1) lower-case letters and digits", at: node)
    return nil
  }

  /// The table of a machine; `nil` after any error except an unreachable state.
  private mutating func table(
    _ parts: [String: Node], of name: String, at machine: Node
  ) -> CompiledTable? {
    let faultsBefore = faults.count
    guard case .mapping(let pairs)? = parts["rows"]?.content, let rowsNode = parts["rows"] else {
      fail(
        "'\(name)' needs rows, such as 'rows: { off: { press: on }, on: { press: off } }'",
        at: machine)
      return nil
    }
    let states = names(pairs.map(\.key), "state")
    var (events, knownEvents): ([String], Set<String>) = ([], [])
    var rows: [CompiledTable.Row] = []
    var timeouts: [String: CompiledTable.Timeout] = [:]
    var unread = Set(states)
    for pair in pairs {
      // Skips invalid and repeated names, which `names` has reported.
      guard let state = pair.key.text, unread.remove(state) != nil else { continue }
      let (node, timeout) = rowsByEvents(pair.value, states, isOwn: true)
      timeouts[state] = timeout
      guard case .mapping(let byEvents) = node.content else {
        if !node.isEmpty { fail("'\(state)' must be a mapping of events to states", at: node) }
        continue
      }
      let ofState = names(byEvents.map(\.key), "event")
      events += ofState.filter { knownEvents.insert($0).inserted }
      var unreadEvents = Set(ofState)
      for row in byEvents {
        guard let event = row.key.text, unreadEvents.remove(event) != nil,
          let next = self.state(row.value, among: states, isOwn: true)
        else { continue }
        rows.append(.init(state, event, next))
      }
    }
    if events.count > CompiledTable.maxNames {
      fail("there are more than \(CompiledTable.maxNames) events", at: rowsNode)
    }
    checkCircles(timeouts, at: rowsNode)
    guard let initial = parts["initial"] else {
      fail("'\(name)' needs an initial state: 'initial: \(states.first ?? "off")'", at: machine)
      return nil
    }
    guard let start = state(initial, among: states), faults.count == faultsBefore else {
      return nil
    }
    do {
      let table = CompiledTable(
        try CompiledTable.NamedTable(
          states: states, initial: start, events: events, rows: rows, allowsUnreachable: true),
        timeouts: timeouts)
      let unreachable = Set(table.unreachableStates)
      for pair in pairs where unreachable.contains(pair.key.text ?? "") {
        fail(
          "'\(pair.key.text ?? "")' cannot be reached from the initial state '\(start)'",
          at: pair.key)
      }
      return table
    } catch {
      fail("\(error)", at: rowsNode)
      return nil
    }
  }

  /// The names of these nodes; reports invalid names, repeated names, and too many names.
  private mutating func names(_ nodes: [Node], _ what: String) -> [String] {
    var names: [String] = []
    var known: Set<String> = []
    for node in nodes {
      guard let name = scalar(node), isUsable(name, at: node) else { continue }
      if !known.insert(name).inserted {
        fail("duplicate \(what) '\(name)'", at: node)
      } else if names.count == CompiledTable.maxNames {
        fail("there are more than \(CompiledTable.maxNames) \(what)s", at: node)
        break
      } else {
        names.append(name)
      }
    }
    return names
  }
}
