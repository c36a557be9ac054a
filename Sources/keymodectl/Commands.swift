import KeyboardModes
import KeymodeClient
import KeymodeInterface
import SystemCalls

/// `keymodectl state [shift|keyboard]`
func state(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.count <= 1 else { throw UsageError("state takes one machine at most") }
  let machine = try operands.first.map(machine)
  let state = try daemon.connectForReading().state()
  var output = Output.standard()
  switch (machine, asJSON) {
  case (nil, true): output.line(json: state)
  case (nil, false): output.line(state.modes.table)
  case (let machine?, true): output.line(json: state.modes[machine])
  case (let machine?, false): output.line("\(state.modes[machine])")
  }
  output.flush()
  return 0
}

/// `keymodectl trigger EVENT`
func trigger(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.count == 1 else { throw UsageError("trigger takes one event") }
  let connection = try daemon.connect()
  let reply: TriggerMessage
  do {
    reply = try connection.trigger(operands[0])
  } catch {
    guard case .refused(name: "org.varlink.service.InvalidParameter", _) = error else {
      throw error
    }
    // Which events there are is for the daemon's configuration to say.
    let names = try connection.machines().flatMap { machine in
      machine.name == Machine.shift.rawValue ? ClientEvent.namesForShift : machine.events
    }
    throw UsageError("unknown event '\(operands[0])'; there are\n\(wrapped(names))")
  }
  var output = Output.standard()
  if asJSON {
    output.line(json: reply)
  } else {
    output.line(reply.state.modes.table)
  }
  output.flush()
  return reply.changed ? 0 : Status.no
}

/// Words in lines that fit on a terminal.
func wrapped(_ words: [String]) -> TerminalText {
  words.map(printable).reduce(into: [""]) { lines, word in
    let last = lines[lines.count - 1]
    if last.isEmpty {
      lines[lines.count - 1] = word
    } else if last.count + 1 + word.count <= 79 {
      lines[lines.count - 1] = "\(last) \(word)"
    } else {
      lines.append(word)
    }
  }.map { "\($0)" }.joined(separator: "\n")
}

/// `keymodectl devices`
func devices(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("devices takes no operand") }
  let devices = try daemon.connect().devices()
  var output = Output.standard()
  if asJSON {
    for device in devices { output.line(json: device) }
  } else {
    let rows = devices.map { device in
      let kind = device.isKeyboard ? "keyboard" : "keys"
      return [device.node, "\(device.vendor):\(device.product)", kind, device.name]
    }
    for line in Table.lines(rows) { output.line(line) }
  }
  output.flush()
  return 0
}

/// `keymodectl stats`
func stats(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.isEmpty else { throw UsageError("stats takes no operand") }
  let statistics = try daemon.connect().statistics()
  var output = Output.standard()
  if asJSON {
    output.line(json: statistics)
  } else {
    // As durations, no two times are too far apart.
    let running =
      Duration.microseconds(statistics.time.microseconds)
      - .microseconds(statistics.started.microseconds)
    let rows =
      [
        ["running", "\(running.components.seconds) s"], ["changes", "\(statistics.changes)"],
        ["clients", "\(statistics.clients)"], ["missed", "\(statistics.missed)"],
        ["devices", "\(statistics.devices)"], ["losses", "\(statistics.losses)"],
        ["reloads", "\(statistics.reloads)"],
      ] + (statistics.configuration.map { [["configuration", configurationText($0)]] } ?? [])
    for line in Table.lines(rows) { output.line(line) }
  }
  output.flush()
  return 0
}

/// What to say of the configuration that is in force.
private func configurationText(_ name: String) -> String {
  switch name {
  case "current": "good"
  case "lastGood": "bad; the last good one is in force"
  case "defaults": "bad; the defaults are in force"
  default: printable(name)
  }
}

/// The machine of this name.
func machine(_ name: String) throws(UsageError) -> Machine {
  guard let machine = Machine(rawValue: name) else {
    throw UsageError("unknown machine '\(name)': it is shift or keyboard")
  }
  return machine
}

extension Modes {
  /// Both states as people read them, a line each.
  fileprivate var table: TerminalText { "shift     \(shift)\nkeyboard  \(keyboard)" }

  /// The state of one machine.
  subscript(machine: Machine) -> String {
    switch machine {
    case .shift: shift
    case .keyboard: keyboard
    }
  }
}
