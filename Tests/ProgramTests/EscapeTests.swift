import Foundation
import TestSupport
import Testing
import Wire

/// Control sequences, a forged line and format characters, and then text that is left alone.
private let evil = "\u{1b}[31m\u{9b}2J\u{7f}\nforged\r\u{2028}\u{202e}\u{200b} Grün"
private let seen =
  "\u{fffd}[31m\u{fffd}2J\u{fffd}\u{fffd}forged\u{fffd}\u{fffd}\u{fffd}\u{fffd} Grün"

private let state: JSON = [
  "instance": .string(evil), "sequence": 1, "time": 1_000_000,
  "states": ["shift": .string(evil), "keyboard": .string(evil)],
  "since": ["shift": 1, "keyboard": 1],
]

private func machine(_ name: String) -> JSON {
  [
    "name": .string(name), "initial": .string(evil), "states": [.string(evil)],
    "events": [.string(evil)],
    "rows": [
      [
        "from": .string(evil), "event": .string(evil), "to": .string(evil),
        "condition": .string(evil),
      ]
    ],
  ]
}

private func change(_ machine: String) -> JSON {
  [
    "sequence": 2, "time": 1_000_000, "machine": .string(machine), "from": .string(evil),
    "to": .string(evil), "event": .string(evil),
  ]
}

private func success(_ parameters: JSON) -> String {
  (["parameters": parameters] as JSON).text
}

private let answers = [
  "GetState": [success(["state": state])],
  "ListMachines": [success(["machines": [machine("shift"), machine("keyboard")]])],
  "Monitor": [
    success(["state": state, "changes": [], "missed": 0, "restarted": false]),
    success([
      "state": state, "changes": [change("shift"), change("keyboard")], "missed": 0,
      "restarted": false,
    ]),
  ],
  "Trigger": [success(["changed": true, "state": state])],
  "ListDevices": [
    success([
      "devices": [
        [
          "name": .string(evil), "node": .string(evil), "vendor": .string(evil),
          "product": .string(evil), "keyboard": true, "pointer": false,
        ]
      ]
    ])
  ],
]

/// The answers of a daemon that refuses every call.
private let refusals = answers.mapValues { _ in
  [(["error": .string(evil), "parameters": [.init(stringLiteral: evil)]] as JSON).text]
}

private let unknownEvent = answers.merging([
  "Trigger": [#"{"error":"org.varlink.service.InvalidParameter","parameters":{}}"#]
]) { $1 }

/// Answers that are invalid JSON, with control characters that an error may quote.
private let garbage = answers.mapValues { _ in ["{\u{1b}[31m\u{9b}\n forged"] }

/// Whether `text` has no control or format characters except line ends.
private func isHarmless(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: scalar == "\n"
    default: true
    }
  }
}

@Suite("Foreign text", .timeLimit(.minutes(5)))
struct EscapeTests {
  private func ask(_ answers: [String: [String]], _ command: String) throws -> Ended {
    let folder = try TemporaryFolder()
    let daemon = try ScriptedDaemon(in: folder.path, answers)
    let ended = try keymodectl(command, in: folder.path)
    withExtendedLifetime(daemon) {}
    #expect(isHarmless(ended.output), "\(ended.output.debugDescription)")
    #expect(isHarmless(ended.errors), "\(ended.errors.debugDescription)")
    return ended
  }

  @Test(
    "text of a daemon is escaped in plain output",
    arguments: [
      ("state", "shift     NAME\nkeyboard  NAME\n"), ("state shift", "NAME\n"),
      ("trigger x", "shift     NAME\nkeyboard  NAME\n"),
      (
        "watch --lines",
        """
             1.000000  shift is NAME, keyboard is NAME
             1.000000  shift     NAME → NAME  NAME
             1.000000  keyboard  NAME → NAME  NAME

        """
      ),
    ])
  func plain(_ command: String, _ expected: String) throws {
    let ended = try ask(answers, command)
    #expect(ended.output == expected.replacing("NAME", with: seen))
  }

  @Test(
    "text of a daemon is complete in JSON, with JSON's escapes",
    arguments: ["state", "trigger x", "devices", "watch"])
  func json(_ command: String) throws {
    let ended = try ask(answers, "\(command) --json")
    #expect(ended.lines.count == (command == "watch" ? 3 : 1))
    for line in ended.lines { _ = try JSON(parsing: Array(line.utf8)) }
    let text = try JSON(parsing: Array(ended.lines[0].utf8))
    let names = [text["states"]?["shift"], text["state"]?["states"]?["shift"], text["name"]]
      .compactMap(\.self)
    #expect(names == [.string(evil)])
  }

  @Test(
    "text of a daemon is escaped in error messages",
    arguments: ["state", "trigger x", "devices", "watch --lines", "wait shift=off"])
  func errors(_ command: String) throws {
    let refused = try ask(refusals, command)
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("keymodectl: keymoded refused: \(seen) ["))
    #expect(refused.errors.split(separator: "\n").count == 1)
    let wrong = try ask(garbage, command)
    #expect(wrong.status == 1)
    #expect(wrong.errors.hasPrefix("keymodectl: keymoded sent an invalid reply: "))
    #expect(wrong.errors.split(separator: "\n").count == 1)
  }

  @Test("text of a daemon is escaped in lists of choices and in diagrams")
  func names() throws {
    let event = try ask(unknownEvent, "trigger x")
    #expect(event.status == 2)
    #expect(event.errors.contains(" \(seen)\n"))
    let waiting = try ask(answers, "wait keyboard=x")
    #expect(waiting.status == 2)
    #expect(waiting.errors.contains("; expected \(seen)\ntry "))
    for format in ["dot", "mermaid"] {
      let drawn = try ask(answers, "graph shift --current --format \(format)")
      #expect(drawn.status == 0)
    }
  }

  @Test(
    "text of the command line is escaped",
    arguments: [
      ("keymodectl", [evil]), ("keymodectl", ["--" + evil]), ("keymodectl", ["wait", evil]),
      ("keymodectl", ["graph", "shift", "--config", evil]), ("keymodectl", ["replay", evil]),
      ("keymodectl", ["keys", evil]), ("keymodectl", ["state", "--socket-dir", "/" + evil]),
      ("keymoded", [evil]), ("keymoded", ["--config", evil]), ("keymoded", ["--recording", evil]),
    ])
  func arguments(_ program: String, _ arguments: [String]) throws {
    let ended = try run(program, arguments)
    #expect(ended.status != 0)
    #expect(isHarmless(ended.output + ended.errors), "\(ended.errors.debugDescription)")
    #expect(ended.errors.contains("Grün"))
    #expect(!ended.errors.contains("\nforged"))
  }
}
