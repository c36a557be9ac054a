import Foundation
import TestSupport
import Testing
import Wire

/// Recordings of a real kernel, which `make recordings` makes: the same typing in five of them, and in
/// one chords on a keyboard and a mouse.
@Suite("Genuine recordings")
struct GenuineRecordingsTests {
  private static let folder = "\(Place.checkout)/Tests/RecordingsTests/Recordings"

  /// The recordings and their formats.
  private static let files = [
    ("typing.evemu", "evemu"), ("typing.libinput.yaml", "libinput"), ("typing.evtest", "evtest"),
    ("typing.raw64", "raw64"), ("typing.redacted.evemu", "evemu"),
  ]

  /// All recordings with their formats and their numbers of changes.
  private static let counted =
    files.map { ($0.0, $0.1, 32) } + [("chords.libinput.yaml", "libinput", 55)]

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(Self.folder)/\(name)", encoding: .utf8)
  }

  @Test(
    "every recording replays to its expected changes, however it is read",
    arguments: counted)
  func expected(_ name: String, _ format: String, _ count: Int) throws {
    let file = "\(Self.folder)/\(name)"
    let command = "'\(Place.programs)/keymodectl' replay --expect '\(file).jsonl'"
    for way in ["'\(file)'", "- <'\(file)'", "--format \(format) '\(file)'", "--lenient '\(file)'"]
    {
      let ended = try run("/bin/sh", "-c", "\(command) \(way)")
      #expect(ended.output == "\(count) changes, as expected\n", "\(way)")
      #expect(ended.errors == "")
      #expect(ended.status == 0)
    }
  }

  @Test("all recordings of the typing have the same changes, except for the zero of their clocks")
  func same() throws {
    let replays = try Self.files.map { name, _ in
      try text("\(name).jsonl").split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
    }
    func withoutTimes(_ changes: [JSON]) -> [[JSON?]] {
      changes.map { change in
        ["sequence", "machine", "from", "to", "event"].map { change[$0] }
      }
    }
    for replay in replays.dropFirst() {
      #expect(withoutTimes(replay) == withoutTimes(replays[0]))
      let distances = zip(replays[0], replay).compactMap { first, other -> Int64? in
        guard let time = first["time"]?.integer, let there = other["time"]?.integer else {
          return nil
        }
        return there - time
      }
      #expect(distances.count == replays[0].count)
      let (least, most) = try (#require(distances.min()), #require(distances.max()))
      #expect(most - least <= 1, "each clock rounds to microseconds by itself")
    }
    let states = Set(replays[0].compactMap { $0["to"]?.string })
    #expect(states.isSuperset(of: ["off", "on", "capsLock", "prepareToRecord", "showingPanel"]))
  }

  @Test("a redacted recording does not show what was typed")
  func redacted() throws {
    // A H I J K C E Q W R T Y, four keys of the keypad, F5, AltGr and Pause.
    let typed = [30, 35, 23, 36, 37, 46, 18, 16, 17, 19, 20, 21, 71, 81, 73, 79, 63, 100, 119]
    let shown = try text("typing.evemu")
    let hidden = try text("typing.redacted.evemu")
    for code in typed {
      let digits = String(code, radix: 16)
      let event = " 0001 \(String(repeating: "0", count: 4 - digits.count))\(digits) "
      #expect(shown.contains(event), "\(code) was typed")
      #expect(!hidden.contains(event), "\(code) can be read")
    }
    #expect(!hidden.contains("MSC_SCAN") && !hidden.contains(" 0004 0004 "))
    let names = hidden.matches(of: /KEY_[A-Z0-9_]+/).map { String($0.output) }
    #expect(
      Set(names).isSubset(of: [
        "KEY_LEFTSHIFT", "KEY_RIGHTSHIFT", "KEY_LEFTCTRL", "KEY_SCROLLLOCK", "KEY_COMPOSE",
        "KEY_INSERT", "KEY_ESC", "KEY_RIGHTMETA", "KEY_LEFTMETA", "KEY_LEFTALT", "KEY_1", "KEY_2",
        "KEY_BACKSPACE",
      ]), "\(Set(names))")
    let keyEvent = /E: [0-9.]+ 0001\s/
    #expect(
      shown.matches(of: keyEvent).count == hidden.matches(of: keyEvent).count,
      "every event is there, as something")
  }

  /// The states of the Shift machine that the changes of a file lead to.
  private func shiftStates(_ name: String) throws -> [String] {
    try text(name).split(separator: "\n").compactMap { line in
      let change = try JSON(parsing: Array(line.utf8))
      return change["machine"] == "shift" ? change["to"]?.string : nil
    }
  }

  @Test("chords replay to the changes of version 0.1.0 where every press of Shift counts")
  func always() throws {
    let folder = try TemporaryFolder()
    let settings = try folder.write(
      "always.yaml", "shift: { trigger: always }\ndevices: { pointers: no }\n")
    let ended = try run(
      "\(Place.programs)/keymodectl", "replay", "--config", settings, "--expect",
      "\(Self.folder)/chords.always.jsonl", "\(Self.folder)/chords.libinput.yaml")
    #expect(ended.output == "50 changes, as expected\n")
    #expect(ended.errors == "")
    #expect(ended.status == 0)
  }

  @Test("shortcuts lock no capitals: capsLock comes from double presses alone")
  func capsLock() throws {
    // A double press with W held, one before text, and one before Shift+Tab, which gives it back.
    #expect(try shiftStates("chords.libinput.yaml.jsonl").filter { $0 == "capsLock" }.count == 4)
    #expect(try shiftStates("chords.always.jsonl").filter { $0 == "capsLock" }.count > 4)
  }
}
