import Configuration
import KeyboardModes
import KeymodeClient
import System
import Terminal
import Wire

/// `keymodectl __names KIND`, for the completions of shells: prints the names of a kind, each with
/// a tab and its meaning. The daemon tells the names; without a daemon, the configuration does.
///
/// The kinds are `recipes`, `events`, `machines` and `conditions`, such as `shift=on`. The name of
/// a machine is a kind too: the states of the machine.
func names(_ arguments: Arguments) throws -> Int32 {
  if arguments.operands.last == "recipes" {
    for recipe in try installedRecipes() {
      try Output.print("\(recipe.name)" + "\t" + "\(recipe.summary)")
    }
    return ExitStatus.done
  }
  let machines = machines(arguments["--socket-dir"], arguments["--config"])
  var output = Output()
  for kind in arguments.operands.dropFirst() {
    for (name, meaning) in machines.flatMap({ $0.names(kind) }) {
      try output.line("\(name)" + "\t" + "\(meaning)")
    }
  }
  try output.flush()
  return ExitStatus.done
}

/// The machines of the daemon or, if it does not answer in 300 ms, of the configuration. The wait
/// is short and errors are not shown, because the user may have pressed Tab.
func machines(_ directory: String?, _ file: String?) -> [MachineMessage] {
  let daemon = DaemonAddress(directory, timeout: .milliseconds(300))
  if let machines = try? daemon.ask(.machines) { return machines }
  let settings = ((try? Configuration.load(file)) ?? Configuration()).settings
  return MachineMessage.all(of: settings)
}

extension MachineMessage {
  /// The names of the events that a program may send; only keys, LEDs and time cause the others.
  var clientEventNames: [String] {
    let machine = MachineName(rawValue: name)
    if machine == .shift { return ClientEvent.namesForShift }
    guard !machine.isLock else { return [] }
    return events.filter { $0 != CompiledTable.timedOut }.map { machine.prefix + $0 }
  }

  /// The names of a kind in this machine, and what they mean.
  fileprivate func names(_ kind: String) -> [(String, String)] {
    switch kind {
    case "events":
      return clientEventNames.map { event in
        let own = ClientEvent.parts(of: event).event
        let states = rows.filter { $0.event == own && $0.from != $0.to }.map(\.to).distinct
        return (event, "to \(listed(states, "or"))")
      }
    case "machines": return [(name, listed(states, "or"))]
    case "conditions": return names(name).map { ("\(name)=\($0)", $1) }
    case name:
      return states.map { state in
        let events = rows.filter { $0.to == state && $0.from != state }.map(\.event).distinct
        let start = state == initial ? ["the start"] : []
        return (state, "after \(listed(start + events, "or"))")
      }
    default: return []
    }
  }
}

extension [String] {
  /// The elements, each once.
  fileprivate var distinct: [String] {
    reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
