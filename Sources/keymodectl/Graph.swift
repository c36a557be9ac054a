import Acting
import Configuration
import Glibc
import KeyboardModes
import KeymodeClient
import Linux
import Replay
import StateMachines
import Terminal

/// `keymodectl graph MACHINE`: prints the diagram of a machine, computed from its rules.
func graph(_ operands: [String], _ address: DaemonAddress, _ arguments: Arguments) throws -> Int32 {
  guard operands.count == 1 else {
    throw UsageError("graph takes one machine: shift, keyboard, caps or num")
  }
  let machine = try Machine(argument: operands[0])
  let format = arguments["--format"] ?? "dot"
  guard let language = languages[format] else {
    throw UsageError(
      "unknown format '\(format)'; \(suggestion(for: format, among: languages.keys.sorted()))")
  }
  let daemon = arguments.has("--current") ? address : nil
  let file = arguments["--config"]
  var diagram =
    if let daemon, file == nil {
      try diagram(machine, of: daemon)
    } else {
      try diagram(machine, of: configuration(arguments).settings)
    }
  if let daemon {
    let state = try daemon.ask(.state).modes[machine]
    guard diagram.states.contains(state) else {
      let rules = file.map { "'\($0)'" } ?? "its own list of states"
      complain("keymoded is in the state '\(state)', which is missing in \(rules)")
      return ExitStatus.no
    }
    diagram.current = state
  }
  if format == "svg" { return try draw(diagram, of: machine) }
  let lines = diagram[keyPath: language].split(separator: "\n")
  Output.print(lines.map { "\($0)" }.joined(separator: "\n"))
  return 0
}

/// The languages of diagrams by the values of `--format`.
private var languages: [String: KeyPath<Diagram, String>] {
  ["dot": \.dot, "mermaid": \.mermaid, "svg": \.dot]
}

/// Prints the diagram as a picture, which Graphviz draws. Returns the exit status of Graphviz.
private func draw(_ diagram: Diagram, of machine: Machine) throws -> Int32 {
  do throws(SystemError) {
    let (drawn, status) = try run(["dot", "-Tsvg"], reading: diagram.dot)
    let picture = String(decoding: drawn, as: UTF8.self)
    var output = Output()
    for line in completed(picture, "The states of \(machine.rawValue)", diagram.description) {
      output.line { $0.append(contentsOf: line.utf8) }
    }
    output.flush()
    return status
  } catch {
    guard error.operation == "run", error.code == ENOENT else { throw error }
    let hint: TerminalText =
      access("/usr/bin/apt", X_OK) == 0
      ? "'sudo apt install graphviz' installs it" : "install Graphviz"
    complain("--format svg needs the program 'dot' of Graphviz;\n\(hint)")
    return ExitStatus.no
  }
}

/// The lines of Graphviz's picture with a title, a description, and colors for readers who prefer
/// dark pages.
private func completed(_ picture: String, _ title: String, _ description: String) -> [String] {
  // Graphviz writes the tag on lines of its own.
  var lines = picture.split(separator: "\n").map(String.init)
  guard let start = lines.firstIndex(where: { $0.hasPrefix("<svg ") }),
    let end = lines[start...].firstIndex(where: { $0.hasSuffix(">") })
  else { return lines }
  lines[start] = "<svg role=\"img\" \(lines[start].dropFirst(5))"
  let added = """
    <title>\(title.escaped)</title>
    <desc>\(description.escaped)</desc>
    <style>
    @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    [stroke="black"] { stroke: #e6edf3 }
    [fill="black"] { fill: #e6edf3 }
    [fill="white"] { fill: #0d1117 }
    [fill="\(Diagram.currentColor)"] ~ text { fill: #000000 }
    }
    </style>
    """
  lines.insert(added, at: end + 1)
  return lines
}

private func diagram(_ machine: Machine, of settings: Settings) -> Diagram {
  switch machine {
  case .shift: Diagram(of: settings.shift)
  case .keyboard: Diagram(of: settings.keyboard)
  case .caps, .num: Diagram(of: LockRules())
  }
}

/// The diagram of the rules that the daemon has in force.
private func diagram(_ machine: Machine, of daemon: DaemonAddress) throws -> Diagram {
  guard let message = try daemon.ask(.machines).first(where: { $0.name == machine.rawValue }) else {
    throw ClientError.badReply("no machine '\(machine.rawValue)'")
  }
  return Diagram(message)
}
