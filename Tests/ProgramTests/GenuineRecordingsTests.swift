import Foundation
import JSON
import TestSupport
import Testing

/// The same typing on a real kernel in six recordings, which `make recordings` makes.
@Suite("Genuine recordings")
struct GenuineRecordingsTests {
  private static let folder = "\(Place.checkout)/Tests/EventRecordingsTests/Recordings"

  /// The recordings and their formats.
  private static let files = [
    ("typing.evemu", "evemu"), ("typing.libinput.yaml", "libinput"), ("typing.evtest", "evtest"),
    ("typing.raw64", "raw64"), ("typing.keymodectl.evemu", "evemu"),
    ("typing.redacted.evemu", "evemu"),
  ]

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(Self.folder)/\(name)", encoding: .utf8)
  }

  @Test(
    "every recording replays to its expected changes, however it is read",
    arguments: files)
  func expected(_ name: String, _ format: String) throws {
    let file = "\(Self.folder)/\(name)"
    let command = "'\(Place.programs)/keymodectl' replay --expect '\(file).jsonl'"
    for way in ["'\(file)'", "- <'\(file)'", "--format \(format) '\(file)'", "--lenient '\(file)'"]
    {
      let ended = try run("/bin/sh", "-c", "\(command) \(way)")
      #expect(ended.output == "32 changes, as expected\n", "\(way)")
      #expect(ended.errors == "")
      #expect(ended.status == 0)
    }
  }

  @Test("all recordings have the same changes, except for the zero of their clocks")
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
      // Each clock rounds to microseconds by itself.
      #expect(try #require(distances.max()) - #require(distances.min()) <= 1)
    }
    let states = Set(replays[0].compactMap { $0["to"]?.string })
    #expect(states.isSuperset(of: ["off", "on", "capsLock", "prepareToRecord", "showingPanel"]))
    // Only keymodectl records on the daemon's clock, and redaction keeps the times.
    #expect(try text("typing.redacted.evemu.jsonl") == text("typing.keymodectl.evemu.jsonl"))
  }

  @Test("a redacted recording does not show what was typed")
  func redacted() throws {
    // A H I J K C E Q W R T Y, four keys of the keypad, F5, AltGr and Pause.
    let typed = [30, 35, 23, 36, 37, 46, 18, 16, 17, 19, 20, 21, 71, 81, 73, 79, 63, 100, 119]
    let shown = try text("typing.keymodectl.evemu")
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
    #expect(
      shown.split(separator: "\n").count == hidden.split(separator: "\n").count,
      "every event is there, as something")
  }
}
