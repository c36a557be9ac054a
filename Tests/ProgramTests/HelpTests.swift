import Foundation
import TestSupport
import Testing
import Wire

@Suite("Help, and what the command line may look like")
struct HelpTests {
  /// The names of the commands of keymodectl.
  static let names: [String] = {
    let help = (try? run("keymodectl", "--help").output) ?? ""
    return help.components(separatedBy: "\n\n").dropFirst(2).first?
      .matches(of: /(?m)^ {2}([a-z]+)/).map { String($0.1) } ?? []
  }()

  @Test("every command has help of its own: its options, and two examples of how to call it")
  func helpOfCommands() throws {
    #expect(HelpTests.names.count == 17)
    for name in HelpTests.names {
      let help = try run("keymodectl", "help", name)
      #expect((help.status, help.errors) == (0, ""))
      #expect(help.output.hasPrefix("usage: keymodectl \(name) "))
      #expect(help.lines.allSatisfy { $0.count <= 80 }, "\(name)")
      for arguments in name == "help"
        ? [] : [[name, "--help"], ["-h", name], [name, "-h"], ["help", name, "-V"]]
      {
        #expect(try run("keymodectl", arguments).output == help.output, "\(arguments)")
      }
      let examples = help.output.components(separatedBy: "\nExamples:\n").last ?? ""
      let lines = examples.split(separator: "\n").filter { !$0.hasPrefix("   ") }
      #expect(lines.count == 2, "\(name)")
      #expect(lines.allSatisfy { $0.contains(/keymode(ctl |d?-)/) && $0.contains(name) })
    }
  }

  @Test(
    "on a narrow terminal, help is broken at spaces",
    arguments: ["keymodectl help watch", "keymodectl --help", "keymoded --help"])
  func narrow(_ command: String) throws {
    let screen = try TerminalScreen(columns: 30, rows: 400)
    try screen.type("clear; \(command); echo XENDX")
    let text = try screen.wait("the end") { $0.contains("\nXENDX") }
    let help = try run("/bin/sh", "-c", "PATH='\(Place.programs)' \(command)").output
    func words(_ text: String) -> [String] {
      text.components(separatedBy: .whitespacesAndNewlines).filter { 1...28 ~= $0.count }
    }
    #expect(words(text.replacing(/\nXENDX[^$]*/, with: "")) == words(help))
  }

  @Test("help and -h print what --help does; a call without a command prints it too, and fails")
  func helpOfAll() throws {
    let help = try run("keymodectl", "--help")
    for (program, help) in [("keymodectl", help), ("keymoded", try run("keymoded", "--help"))] {
      #expect((help.status, help.errors) == (0, ""))
      #expect(help.output.hasPrefix("usage: \(program) "))
      #expect(help.lines.allSatisfy { $0.count <= 80 })
      #expect(try run(program, "--version").output == "\(program) \(keymodedVersion)\n")
    }
    #expect(try run("keymodectl", "help").output == help.output)
    #expect(try run("keymodectl", "-h").output == help.output)
    #expect(try run("keymodectl", "-V").output == "keymodectl \(keymodedVersion)\n")
    #expect(try run("keymoded", "-h").output == run("keymoded", "--help").output)
    #expect(try run("keymoded", "-V").output == "keymoded \(keymodedVersion)\n")
    let bare = try run("keymodectl")
    #expect((bare.status, bare.output, bare.errors) == (2, "", help.output))
    // The options after two dashes belong to the program that is to be run.
    let other = try run("keymodectl", "while", "--grace", "x", "shift=on", "--", "ls", "--help")
    #expect(other.status == 2 && other.output == "")
  }

  @Test(
    "an unknown command gets the most similar one",
    arguments: [
      ("wahtch", "'watch'"), ("stat", "'state'"), ("xyz", nil), ("status", "'state'"),
      ("monitor", "'watch'"), ("listen", "'watch'"), ("send", "'trigger'"), ("stauts", "'state'"),
      ("version", "'--version'"),
    ] as [(String, String?)], [false, true])
  func unknownCommands(_ example: (name: String, meant: String?), _ asksForHelp: Bool) throws {
    let ended = try run("keymodectl", (asksForHelp ? ["help"] : []) + [example.name])
    let hint = example.meant.map { "; did you mean \($0)?" } ?? ""
    #expect((ended.status, ended.output) == (2, ""))
    let message = "unknown command '\(example.name)'\(hint)\ntry 'keymodectl --help'\n"
    #expect(ended.errors == "keymodectl: \(message)")
  }

  @Test("an unknown event gets the most similar one, or all")
  func unknownEvents() throws {
    let daemon = try RunningDaemon()
    for (event, message) in [
      ("tapTextFeild", "did you mean 'tapTextField'?\n"), ("timedOut", "expected shiftPressed, "),
    ] {
      let ended = try daemon.ask("trigger", event)
      #expect(ended.status == 2)
      #expect(ended.errors.hasPrefix("keymodectl: unknown event '\(event)'; \(message)"))
    }
  }
}
