import Foundation
import KeyboardModes
import Keyboards
import TestSupport
import Testing

@testable import Configuration

/// The configuration of files with the names a.yaml, b.yaml and so on.
private func read(_ texts: String...) throws -> Configuration {
  try Configuration(merging: files(texts))
}

private func files(_ texts: [String]) -> [ConfigurationText] {
  zip("abcdefg", texts).map { ConfigurationText(name: "\($0).yaml", bytes: Array($1.utf8)) }
}

/// The messages about the files, without their excerpts.
private func said(of texts: String...) -> [String] {
  do {
    _ = try Configuration(merging: files(texts))
    return []
  } catch {
    return error.lines.map { "\($0)" }
  }
}

@Suite("Drop-ins")
struct DropInTests {
  @Test(
    "files are merged: mappings by their names, and the last file decides all other values",
    arguments: [
      (
        ["shift: {threshold: 1s, timeout: 3s}", "shift: {timeout: 4s}"],
        "shift: {threshold: 1s, timeout: 4s}"
      ),
      (["debounce: 5ms", "", "# nothing", "debounce: 6ms"], "debounce: 6ms"),
      (["debounce: 5ms", "debounce: off"], ""),
      // A name without a value changes nothing.
      (["shift: {timeout: 3s}", "shift:\nkeyboard:"], "shift: {timeout: 3s}"),
      (["shift: {timeout: 3s}", "shift: {timeout: }"], "shift: {timeout: 3s}"),
      (["shift:", "shift: {timeout: 3s}"], "shift: {timeout: 3s}"),
      // The keys of an event are replaced as a whole.
      (
        [
          "keyboard: {bindings: {tapTextField: [F1, F2], tapBlankArea: F3}}",
          "keyboard: {bindings: {tapTextField: [F4]}}",
        ],
        "keyboard: {bindings: {tapTextField: F4, tapBlankArea: F3}}"
      ),
      (
        ["keyboard: {bindings: {tapTextField: [F1]}}", "keyboard: {bindings: {tapTextField: []}}"],
        "keyboard: {bindings: {tapTextField: []}}"
      ),
      (
        [
          "keyboard: {bindings: {tapTextField: F1}}",
          "keyboard: {bindings: {tapTextField: F2, tapBlankArea: F1}}",
        ],
        "keyboard: {bindings: {tapTextField: F2, tapBlankArea: F1}}"
      ),
      (["locks: [caps]", "locks: [num]"], "locks: [num]"),
      (
        ["leds: {capsLock: LED_CAPSL, 'on': LED_MISC}", "leds: {capsLock: []}"],
        "leds: {capsLock: [], 'on': LED_MISC}"
      ),
      (
        ["devices: {only: [a, b]}", "devices: {only: c, pointers: no}"],
        "devices: {only: c, pointers: no}"
      ),
      // No later file lets in what an earlier one ignores.
      (
        ["devices: {ignore: [a, 046d:c52b]}", "devices: {ignore: [b, 046D:C52B]}"],
        "devices: {ignore: [a, 046d:c52b, b]}"
      ),
      (["devices: {ignore: a}", "devices: {ignore: []}"], "devices: {ignore: [a]}"),
      // Tables grow; only one that replaces the shipped table drops earlier rows.
      (
        [
          "keyboard: {table: {events: [e, f], rows: {editingText: {e: showingPanel, f: showingPanel}}}}",
          "keyboard: {table: {states: s, events: [g, f], rows: {editingText: {f: s}, s: {g: editingText}}}}",
        ],
        """
        keyboard: {table: {states: s, events: [e, f, g], rows:
          {editingText: {e: showingPanel, f: s}, s: {g: editingText}}}}
        """
      ),
      (
        [
          "keyboard: {table: {states: s, events: e, rows: {editingText: {e: s}}}, bindings: {}}",
          "keyboard: {table: {replaces: true, initial: t, states: t, events: f, rows: {t: {f: t}}}}",
        ],
        "keyboard: {table: {replaces: true, initial: t, states: t, events: f, rows: {t: {f: t}}}}"
      ),
      (
        [
          "keyboard: {table: {replaces: true, initial: t, states: t, events: f, rows: {t: {f: t}}}}",
          "keyboard: {table: {states: u, events: g, rows: {t: {g: u}}}}",
        ],
        """
        keyboard: {table: {replaces: true, initial: t, states: [t, u], events: [f, g],
                           rows: {t: {f: t, g: u}}}}
        """
      ),
      // And the bindings and LEDs of earlier files with them, of what this table lacks.
      (
        [
          """
          keyboard:
            table: {states: s, events: e, rows: {editingText: {e: s}}}
            bindings: {clickMoreButton: F10, e: F11, tapTextField: F12}
          leds: {s: LED_MISC, showingPanel: LED_MAIL, 'on': LED_SUSPEND}
          """,
          "keyboard: {bindings: {e: F8}}",
          """
          keyboard:
            table: {replaces: yes, initial: t, states: t, events: tapTextField, rows: {t: {tapTextField: t}}}
          leds: {t: LED_MUTE}
          """,
        ],
        """
        keyboard:
          table: {replaces: yes, initial: t, states: t, events: tapTextField, rows: {t: {tapTextField: t}}}
          bindings: {tapTextField: F12}
        leds: {'on': LED_SUSPEND, t: LED_MUTE}
        """
      ),
    ] as [([String], String)])
  func merged(_ texts: [String], _ whole: String) throws {
    let merged = try Configuration(merging: files(texts))
    #expect(try merged == read(whole))
    // What is printed of the files is the same configuration.
    let lines = try Configuration.annotatedYAML(merging: files(texts)) { _ in }
    #expect(try read(lines.joined(separator: "\n")) == merged)
  }

  @Test("each error names its own file")
  func errors() {
    #expect(
      said(of: "debounce: 1", "shift: 7", "locks: x\nlock: y") == [
        "a.yaml:1:11: '1' has no unit; add s, ms or us",
        "b.yaml:1:8: shift must be a mapping; its possible settings are threshold, timeout, "
          + "trigger, tap_timeout and used_by",
        "c.yaml:1:8: 'x' is neither caps nor num",
        "c.yaml:2:1: unknown setting 'lock'; did you mean 'locks'?",
      ])
    // Before anything is merged, each file has to be YAML.
    #expect(
      said(of: "shift: {", "nothing: 1", "%TAG ! a\n", "a: *b").map { $0.prefix(8) }
        == ["a.yaml:1", "c.yaml:1", "d.yaml:1"])
    #expect(
      said(
        of: "keyboard: {bindings: {tapTextField: F1}}",
        "keyboard: {bindings:\n  {tapBlankArea: [F2, F1],\n  clickMoreButton: [F2]}}")
        == [
          "b.yaml:2:23: 'F1' is already bound to tapTextField",
          "b.yaml:3:21: 'F2' is already bound to tapBlankArea",
        ])
    // Where there should be names below a name, a later file hides no other value.
    let (right, wrong) = (
      "keyboard: {bindings: {tapTextField: F1}}", "keyboard:\n  bindings:\n    a:[F9]"
    )
    let told =
      ":3:5: bindings must be a mapping; its possible events are clickSwitchButton, "
      + "clickMoreButton, tapTextField and tapBlankArea; a space must follow ':'"
    #expect(said(of: wrong, right) == ["a.yaml\(told)"])
    #expect(said(of: right, wrong) == ["b.yaml\(told)"])
    #expect(said(of: right, wrong, right) == ["b.yaml\(told)"])
    // What a table drops is an error only in the file of the table or behind it.
    let table =
      "keyboard:\n  table: {replaces: yes, initial: t, states: t, events: f, rows: {t: {f: t}}}\n"
    let old = "  bindings: {clickMoreButton: F9}\nleds: {showingPanel: LED_MISC}\n"
    #expect(said(of: "keyboard:\n" + old, table) == [])
    #expect(said(of: table + old).map { $0.prefix(9) } == ["a.yaml:3:", "a.yaml:4:"])
    #expect(
      said(of: table, "keyboard:\n" + old).map { $0.prefix(9) } == ["b.yaml:2:", "b.yaml:3:"])
    #expect(said(of: "7", right).map { $0.prefix(11) } == ["a.yaml:1:1:"])
    #expect(
      said(
        of: "keyboard: {table: {rows: {editingText: 7}}}",
        "keyboard: {table: {rows: {editingText: {}}}}"
      ).count == 1)
    #expect(said(of: "debounce: 5ms", "debounce: {x: 1}").map { $0.prefix(12) } == ["b.yaml:1:11:"])
    // A name that occurs twice in one file is an error, in whichever of them.
    for texts in [("debounce: 1ms\ndebounce: 2ms", ""), ("", "debounce: 1ms\ndebounce: 2ms")] {
      #expect(
        said(of: texts.0, texts.1).map { $0.dropFirst(6) } == [":2:1: duplicate setting 'debounce'"]
      )
    }
    #expect(
      said(of: "debounce: 5ms", "debounce: 1ms\ndebounce: 2ms")
        == ["b.yaml:2:1: duplicate setting 'debounce'"])
  }

  @Test(
    "an error about a chord is at the later of two places, and a count names a file if all are in it"
  )
  func places() {
    #expect(
      said(
        of: """
          keyboard:
            bindings:
              tapTextField: [F9 release, F9 hold 1s,
                F9]
              tapBlankArea: [F9, F9 hold 2s]
          """) == [
          "a.yaml:5:20: 'F9' is already bound to tapTextField",
          "a.yaml:5:24: 'F9 hold 2s' is already bound to tapTextField",
        ])
    let many = (1...30).map { "x\($0): 1\n" }.joined()
    #expect(said(of: many, "y: 1").last == "a.yaml: 11 more errors")
    #expect(said(of: "y: 1", many).last == "11 more errors")
  }

  @Test("--print-config tells of each setting that is not a default which files it is from")
  func origins() throws {
    let lines = try Configuration.annotatedYAML(
      merging: files([
        "shift: {timeout: 3s, trigger: tap}\ndevices: {ignore: [x]}", "shift: {trigger: press}",
        "devices: {ignore: [z]}\nkeyboard: {bindings: {tapBlankArea: []}}\nleds: {'on': LED_MISC}",
      ])
    ) { _ in }
    #expect(
      lines == [
        "shift:", "  threshold: 500ms", "  timeout: 3s  # a.yaml", "  trigger: press  # b.yaml",
        "  tap_timeout: 200ms", "  used_by: characters", "keyboard:", "  bindings:",
        "    clickSwitchButton: [Scroll_Lock, Dictate]",
        "    clickMoreButton: [Menu, Emoji_Picker]",
        "    tapTextField: [Insert]", "    tapBlankArea: []  # c.yaml", "machines: {}", "devices:",
        "  only: []",
        "  ignore: [x, z]  # a.yaml, c.yaml", "  pointers: yes", "debounce: off", "leds:",
        "  \"on\": [LED_MISC]  # c.yaml", "locks: [caps, num]",
      ])
  }

  @Test("FILE.d/*.yaml are read after FILE, in the order of their names")
  func folder() throws {
    let folder = try TemporaryFolder()
    let main = try folder.write("k.yaml", "debounce: 1ms")
    #expect(try Configuration.load(main).settings.debounce == .milliseconds(1))
    try FileManager.default.createDirectory(
      atPath: "\(main).d", withIntermediateDirectories: false)
    #expect(try Configuration.load(main).settings.debounce == .milliseconds(1))
    for (name, text) in [
      ("b.yaml", "debounce: 3ms"), ("10.yaml", "shift: {timeout: 1s}"), ("B.yaml", "debounce: 2ms"),
      ("c.yml", "no"), ("d.yaml~", "no"), (".e.yaml", "no"), ("README", "no"),
    ] { _ = try folder.write("k.yaml.d/\(name)", text) }
    #expect(
      try ConfigurationText.withDropIns(at: main).map(\.name)
        == [main] + ["10", "B", "b"].map { "\(main).d/\($0).yaml" })
    let settings = try Configuration.load(main).settings
    #expect((settings.debounce, settings.shift.timeout) == (.milliseconds(3), .seconds(1)))
    // A folder is no file, nor is a link that leads nowhere, nor is a file a folder.
    try FileManager.default.createDirectory(
      atPath: "\(main).d/f.yaml", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: "\(main).d/g.yaml", withDestinationPath: "/nowhere")
    let other = "not a regular file; write the configuration into a file and name that one"
    #expect(error(main) == "\(main).d/f.yaml: \(other)")
    try FileManager.default.removeItem(atPath: "\(main).d/f.yaml")
    #expect(error(main) == "\(main).d/g.yaml: No such file or directory")
    try FileManager.default.removeItem(atPath: "\(main).d")
    _ = try folder.write("k.yaml.d", "")
    #expect(error(main) == "\(main).d: Not a directory")
  }

  @Test("the file may be missing if it has drop-ins, each of which may begin with a mark")
  func missingFile() throws {
    let folder = try TemporaryFolder()
    let main = "\(folder.path)/c.yaml"
    let missing = "\(main): No such file or directory"
    #expect(error(main) == missing)
    try FileManager.default.createDirectory(
      atPath: "\(main).d", withIntermediateDirectories: false)
    #expect(error(main) == missing)
    _ = try folder.write("c.yaml.d/a.yaml", "\u{feff}debounce: 3ms\n")
    #expect(try Configuration.load(main).settings.debounce == .milliseconds(3))
    _ = try folder.write("c.yaml.d/b.yaml", "\u{feff}shift: 1\n")
    #expect(error(main)?.hasPrefix("\(main).d/b.yaml:1:8: shift must be a mapping") == true)
  }

  @Test("too many drop-ins, or too large ones, are refused")
  func limits() throws {
    let folder = try TemporaryFolder()
    let main = try folder.write("k.yaml", "#" + String(repeating: "x", count: 600_000))
    try FileManager.default.createDirectory(
      atPath: "\(main).d", withIntermediateDirectories: false)
    for number in 1...100 { _ = try folder.write("k.yaml.d/\(number).yaml", "") }
    #expect(error(main) == nil)
    _ = try folder.write("k.yaml.d/101.yaml", "")
    #expect(error(main) == "\(main).d: 101 files; at most 100 are read")
    try FileManager.default.removeItem(atPath: "\(main).d/101.yaml")
    _ = try folder.write("k.yaml.d/50.yaml", "#" + String(repeating: "x", count: 500_000))
    #expect(
      error(main)
        == "\(main).d/50.yaml: with this file, the configuration is larger than 1 MiB, the limit")
  }

  /// The error about a file and its drop-ins.
  private func error(_ path: String) -> String? {
    do {
      _ = try Configuration.load(path)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "every recipe is valid alone, with any other and with all, in any order, and each keeps its keys"
  )
  func recipesCombine() throws {
    let recipes = "\(checkout)/data/recipes"
    let names = try FileManager.default.contentsOfDirectory(atPath: recipes).sorted()
    #expect(
      names == [
        "capitals.yaml", "layers.yaml", "panel.yaml", "push-to-mute.yaml", "push-to-talk.yaml",
      ])
    let texts = try names.map {
      ConfigurationText(
        name: $0, bytes: Array(try Data(contentsOf: URL(filePath: "\(recipes)/\($0)"))))
    }
    let orders =
      texts.indices.reduce([[]] as [[Int]]) { orders, _ in
        orders
          + orders.filter { $0.count < 2 }.flatMap { order in
            texts.indices.filter { !order.contains($0) }.map { order + [$0] }
          }
      } + [Array(texts.indices), texts.indices.reversed()]
    let expected: [String: (Settings) -> Bool] = [
      "capitals.yaml": { $0.shiftUsedBy == .any && $0.shiftTrigger == .tap },
      "layers.yaml": { self.machine("KEY_F13", $0) == "layer" },
      "panel.yaml": { self.event("KEY_F10", $0) == "clickMoreButton" },
      "push-to-mute.yaml": { self.machine("KEY_F10", $0) == "mute" },
      "push-to-talk.yaml": { self.machine("KEY_RIGHTCTRL", $0) == "talk" },
    ]
    for order in Set(orders) {
      var warnings: [String] = []
      let files = order.map { texts[$0] }
      let settings = try Configuration(merging: files) { warnings.append("\($0)") }.settings
      #expect(warnings.isEmpty)
      for (name, holds) in expected {
        #expect(
          holds(settings) == files.contains { $0.name == name }, "\(name) in \(files.map(\.name))")
      }
    }
    #expect(Set(orders).count == 28)
  }

  /// The machine of the user's own that a press of a key serves, whatever is held.
  private func machine(_ key: String, _ settings: Settings) -> String? {
    let chord = KeyCode(name: key).flatMap { try? Chord([$0], allowsAnyModifiers: true) }
    return settings.machines.indices.dropFirst()
      .first { index in chord.flatMap { settings.bindings[$0, index]?.press } != nil }
      .map { settings.machines[$0].name.rawValue }
  }

  /// The event that a press of a key sends.
  private func event(_ key: String, _ settings: Settings) -> String? {
    let chord = KeyCode(name: key).flatMap { try? Chord([$0]) }
    let press = chord.flatMap { settings.bindings[$0]?.press }
    return press.map { settings.keyboard.name(ofEvent: $0) }
  }
}

@Suite("Excerpts")
struct ExcerptTests {
  @Test(
    "an error shows the line of the file, and marks the wrong text below it",
    arguments: [
      ("shift:\n  timeout: 3\n", ["    timeout: 3", "             ^"]),
      ("locks: [caps, F9 up]\r\n", ["  locks: [caps, F9 up]", "                ^~~~~"]),
      ("shift: { timeout: '1' }", ["  shift: { timeout: '1' }", "                    ^~~"]),
      ("shift: {", ["  shift: {", "          ^"]),
      ("shift:\n\ttimeout: 1s", ["   timeout: 1s", "  ^"]),
      (
        "keyboard: {bindings: {tapTextField: [Super+F99 release]}}",
        [
          "  keyboard: {bindings: {tapTextField: [Super+F99 release]}}",
          "                                       ^~~~~~~~~~~~~~~~~",
        ]
      ),
      (
        "keyboard: {bindings: {tapTextField: 'F9 relase'}}",
        [
          "  keyboard: {bindings: {tapTextField: 'F9 relase'}}",
          "                                      ^~~~~~~~~~~",
        ]
      ),
      ("shift:\n  [timeout,\n  trigger]", ["    [timeout,", "    ^"]),
    ])
  func shown(_ text: String, _ shown: [String]) throws {
    do {
      _ = try read(text)
      Issue.record("no error")
    } catch {
      #expect("\(error)".components(separatedBy: "\n").dropFirst() == shown[...])
    }
  }

  @Test(
    "a line that is too long, or whose characters may be wide or invisible, is not shown",
    arguments: [
      "ö: 1", "a\u{a0}: 1", String(repeating: "x", count: 118) + ": 1", "'\u{a0}': 1",
    ])
  func notShown(_ text: String) {
    #expect(throws: ConfigurationErrors.self) { try read(text) }
    do { _ = try read(text) } catch { #expect(!"\(error)".contains("\n")) }
  }
}
