import System
import Terminal

/// The text of `--help`.
var helpText: TerminalText {
  """
  usage: keymodectl COMMAND [OPTION]...

  keymoded keeps states of Shift, of the keyboard, and of machines of your own;
  keys change them. It also tells whether Caps Lock and Num Lock are on.
  keymodectl shows these states, acts on them, and replays recordings of keys.

  \(commands.map { entry($0.synopsis, $0.summary) }.joined(separator: "\n"))

  'keymodectl help COMMAND' shows the options of a command, and examples.

  \(generalOptions)

  States of shift: off on capsLock
  States of keyboard: prepareToEditText prepareToRecord editingText showingPanel
  States of caps and num, by the LEDs of the keyboards: unknown off on

  Events: shiftPressed characterTyped clickSwitchButton clickMoreButton
  tapTextField tapBlankArea

  Keys are bound to events in /etc/keymoded/keymoded.yaml; see keymoded.yaml(5).
  There you can define states and events of the keyboard, and other machines.

  Exit status: 0 done; 1 the event changed nothing, the states did not come in
  time, a recorded device was removed, doctor found something that is not right,
  or the system refused an operation;
  2 wrong usage; 3 no daemon or no answer; 4 invalid configuration or recording;
  5 permission denied. while --once exits with the status of the command, as
  shells do: 127 if there is no such command, 126 if it cannot run.
  """
}

/// `keymodectl help [COMMAND]`, or `COMMAND --help`: prints the text of all commands, or of one.
func help(_ arguments: Arguments) throws -> Int32 {
  let isCommand = arguments.operands.first == "help"
  let words = arguments.operands.dropFirst(isCommand ? 1 : 0)
  if isCommand, words.count > 1 { throw UsageError("help takes one command at most") }
  let text = try words.first.map { name throws(UsageError) in try Command(named: name).help }
  try Output.print((text ?? helpText).fitted)
  return ExitStatus.done
}

extension Command {
  /// The name and the operands, as in the list of commands.
  fileprivate var synopsis: String { operands.isEmpty ? name : "\(name) \(operands)" }

  fileprivate var help: TerminalText {
    let own = options.filter { $0.commands.contains(name) }.map { option in
      entry([option.name, option.value].compactMap { $0 }.joined(separator: " "), option.meaning)
    }
    let examples = examples.map { "  \($0.line)\n      \($0.meaning)" as TerminalText }
    let recipes = name == "recipe" ? try? installedRecipes() : nil
    let listed = recipes.map { "\n\nRecipes:\n\(recipeList($0))" as TerminalText } ?? ""
    let usage = [name, own.isEmpty ? "" : "[OPTION]...", operands].filter { !$0.isEmpty }
    return """
      usage: keymodectl \(usage.joined(separator: " "))

      \(wrappedLines(purpose, width: 79).joined(separator: "\n"))

      \((own + [generalOptions]).joined(separator: "\n"))\(listed)

      Examples:
      \(examples.joined(separator: "\n"))
      """
  }
}

private let generalOptions: TerminalText =
  [entry("-h, --help", "print help"), entry("-V, --version", "print the version")]
  .joined(separator: "\n")

/// A name and, beside or below it, its meaning, in lines of at most 79 characters.
func entry(_ name: String, _ meaning: String) -> TerminalText {
  let column = 27
  let margin = String(repeating: " ", count: column)
  let text = wrappedLines(meaning, width: 79 - column)
  let head = "  \(name)"
  guard head.count < column - 1 else {
    return "\(head)\n\(margin)\(text.joined(separator: "\n\(margin)"))"
  }
  let gap = String(repeating: " ", count: column - head.count)
  return "\(head)\(gap)\(text.joined(separator: "\n\(margin)"))"
}

/// The words of `text` in lines of at most `width` characters.
private func wrappedLines(_ text: String, width: Int) -> [TerminalText] {
  lines(of: text.split(separator: " ").map(String.init), width: width)
}
