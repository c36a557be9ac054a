import Configuration
import Glibc
import Keyboards
import System
import Terminal

/// `keymodectl keys [DEVICE…]`: shows the name and the bindings of each pressed key.
func keys(_ invocation: Invocation) throws -> Int32 {
  let (operands, arguments) = (invocation.operands, invocation.arguments)
  // The daemon's configuration decides what a key does on this machine.
  let configuration = try configuration(arguments, isOfMachine: true)
  // A core dump would contain the keys that were pressed.
  forbidMemoryDumps()
  let selection: Keyboards.Selection =
    operands.isEmpty
    ? .all(configuration.devices, pointers: false)
    : .named(operands)
  let viewer = try KeyViewer(
    selection, configuration.settings, on: .ofThisProgram(),
    show: { line throws(SystemError) in
      try writeAll(Array("\(line)\n".utf8), to: STDOUT_FILENO, "standard output")
    }, notify: { printToStandardError($0) })
  return try explainingPermission("keys") {
    // The daemon, if one runs, knows which modifiers and buttons have been held for a minute.
    for hold in (try? invocation.daemon.ask(.statistics))?.held ?? [] {
      printToStandardError(KeyViewer.warning(of: hold))
    }
    try viewer.run()
    return ExitStatus.done
  }
}

/// Runs the body of a command that reads devices, and explains a missing permission.
func explainingPermission(_ command: TerminalText, _ body: () throws -> Int32) throws -> Int32 {
  do {
    return try body()
  } catch let error as SystemError where error.code == EACCES && error.operation == "open" {
    let message: TerminalText =
      "\(error):\nonly root and members of the group 'input' may read keyboards"
    // Root is refused only if it lacks capabilities, and sudo does not add any. The message does
    // not advise to join the group: every program of a member could read what is typed.
    printToStandardError(
      geteuid() == 0 ? message : "\(message);\n'sudo keymodectl \(command)' reads them as root")
    return ExitStatus.permissionDenied
  }
}
