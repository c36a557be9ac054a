import Foundation
import TestSupport
import Testing
import Wire

private let extremes: [Int64] = [
  .min, .min + 1, -1_000_001, -1, 0, 1, 1_000_001, 1 << 53, .max - 1, .max,
]

private func modes(_ number: () -> Int64) -> JSON {
  [
    "instance": "i", "sequence": .integer(number()), "time": .integer(number()), "shift": "off",
    "shiftSince": .integer(number()), "keyboard": "idle", "keyboardSince": .integer(number()),
  ]
}

/// A stream of states and changes with these numbers, and a last change to the state `done`.
private func stream(_ number: () -> Int64) -> [String] {
  func change(_ machine: String, to: String) -> JSON {
    [
      "sequence": .integer(number()), "time": .integer(number()), "machine": .string(machine),
      "from": "off", "to": .string(to), "event": "x",
    ]
  }
  func message(_ changes: [JSON], missed: Int64) -> String {
    let parameters: JSON = [
      "state": modes(number), "changes": .array(changes), "missed": .integer(missed),
    ]
    return (["parameters": parameters, "continues": true] as JSON).text
  }
  return [message([], missed: 0), message([], missed: number())]
    + extremes.map { _ in
      message([change("shift", to: "on"), change("keyboard", to: "busy")], missed: number())
    } + [message([change("shift", to: "done")], missed: 0)]
}

/// Numbers that keymoded does not send must not crash a client.
@Suite("Extreme numbers from a daemon", .timeLimit(.minutes(5)))
struct ExtremeNumbersTests {
  @Test("stats prints extreme numbers", arguments: extremes)
  func statistics(_ started: Int64) throws {
    for time in extremes {
      let folder = try TemporaryFolder()
      let daemon = try ScriptedDaemon(
        in: folder.path,
        [
          "GetStatistics": [
            #"{"parameters":{"started":\#(started),"time":\#(time),"changes":\#(time),"#
              + #""clients":\#(started),"missed":\#(time),"devices":\#(time),"#
              + #""losses":\#(started),"reloads":\#(time)}}"#
          ]
        ])
      let ended = try keymodectl("stats", in: folder.path)
      withExtendedLifetime(daemon) {}
      #expect((ended.status, ended.errors) == (0, ""), "\(started), \(time)")
      let (difference, overflow) = time.subtractingReportingOverflow(started)
      #expect(ended.lines.count == 7)
      if !overflow { #expect(ended.lines.first == "running  \(difference / 1_000_000) s") }
    }
  }

  @Test("commands take states and changes with extreme numbers", arguments: 0..<8)
  func changes(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let number = { extremes.randomElement(using: &random) ?? 0 }
    let folder = try TemporaryFolder()
    let machines: JSON = [
      "parameters": [
        "machines": [
          [
            "name": "keyboard", "initial": "idle", "states": ["idle", "busy"], "events": [],
            "rows": [],
          ]
        ]
      ]
    ]
    let daemon = try ScriptedDaemon(
      in: folder.path,
      [
        "GetState": [(["parameters": ["state": modes(number)]] as JSON).text],
        "Trigger": [(["parameters": ["changed": true, "state": modes(number)]] as JSON).text],
        "ListMachines": [machines.text], "Monitor": stream(number),
      ])
    for (command, status) in [
      ("state", 0), ("state --json", 0), ("trigger x", 0), ("graph keyboard --current", 0),
      ("wait keyboard=busy", 0), ("watch --lines", 3), ("watch --json", 3),
    ] {
      let ended = try keymodectl(command, in: folder.path)
      #expect(Int(ended.status) == status, "\(command): \(ended.errors)")
      if command.hasPrefix("watch") { #expect(ended.output.contains("done")) }
    }
    withExtendedLifetime(daemon) {}
  }

  @Test("the live view shows changes with extreme numbers", arguments: 0..<4)
  func view(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let folder = try TemporaryFolder()
    let daemon = try ScriptedDaemon(
      in: folder.path, ["Monitor": stream { extremes.randomElement(using: &random) ?? 0 }],
      staysAfterMonitor: true)
    let screen = try TerminalScreen(environment: ["KEYMODED_SOCKET_DIR": folder.path])
    try screen.type("keymodectl watch")
    try screen.wait("the last change") { $0.contains("done ←") }
    withExtendedLifetime(daemon) {}
  }
}
