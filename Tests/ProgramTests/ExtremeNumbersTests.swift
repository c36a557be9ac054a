import Foundation
import TestSupport
import Testing
import Wire

private let extremes: [Int64] = [
  .min, .min + 1, -1_000_001, -1, 0, 1, 1_000_001, 1 << 53, .max - 1, .max,
]

private func states(_ number: () -> Int64) -> JSON {
  [
    "instance": "i", "sequence": .integer(number()), "time": .integer(number()),
    "states": ["shift": "off", "keyboard": "idle"],
    "since": ["shift": .integer(number()), "keyboard": .integer(number())],
  ]
}

private func statistics(_ number: () -> Int64) -> JSON {
  [
    "started": .integer(number()), "time": .integer(number()), "changes": .integer(number()),
    "clients": .integer(number()), "missed": .integer(number()), "devices": .integer(number()),
    "losses": .integer(number()), "reloads": .integer(number()),
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
      "state": states(number), "changes": .array(changes), "missed": .integer(missed),
      "restarted": false,
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
        "GetState": [(["parameters": ["state": states(number)]] as JSON).text],
        "Trigger": [(["parameters": ["changed": true, "state": states(number)]] as JSON).text],
        "ListMachines": [machines.text], "Monitor": stream(number),
        "GetStatistics": [(["parameters": statistics(number)] as JSON).text],
      ])
    for (command, status) in [
      ("state", 0), ("state --json", 0), ("stats", 0), ("trigger x", 0),
      ("graph keyboard --current", 0),
      ("wait keyboard=busy", 0), ("watch --lines", 3), ("watch --json", 3),
    ] {
      let ended = try keymodectl(command, in: folder.path)
      #expect(Int(ended.status) == status, "\(command): \(ended.errors)")
      if command.hasPrefix("watch") { #expect(ended.output.contains("done")) }
    }
    withExtendedLifetime(daemon) {}
  }
}
