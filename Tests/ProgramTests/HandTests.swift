import Foundation
import TestSupport
import Testing
import Wire

/// Keys as hands press them and as remappers pass them on: replays of `Recordings/hands`.
@Suite("Recordings of hands and remappers")
struct HandTests {
  /// The changes of a recording, as `shiftPressed>on`.
  private func changes(_ name: String, _ shift: String = "") throws -> [String] {
    let folder = try TemporaryFolder()
    let file = try folder.write("keymoded.yaml", "shift: {\(shift)}\n")
    let ended = try run(
      "keymodectl", "replay", "--json", "--config", file,
      "\(checkout)/Tests/RecordingsTests/Recordings/hands/\(name).evemu")
    #expect((ended.status, ended.errors) == (0, ""), "\(name)")
    return try ended.lines.dropFirst().dropLast().map { line in
      let json = try JSON(parsing: Array(line.utf8))
      return try "\(#require(json["event"]?.string))>\(#require(json["to"]?.string))"
    }
  }

  @Test(
    "a key that a remapper sends without Shift changes what the hand's key changes",
    arguments: [
      ("plain-del", "keyd-del"), ("plain-del", "firmware-del"),
      ("plain-del", "firmware-del-first"), ("plain-del", "tapped-del"),
      ("plain-del-often", "keyd-del-often"), ("plain-one", "keyd-one"), ("plain-one", "keyd-grave"),
    ],
    [
      "trigger: press", "trigger: tap", "trigger: always", "used_by: any",
      "trigger: tap, used_by: any", "trigger: always, used_by: any", "timeout: 150ms",
    ])
  func sameAsTheHand(_ names: (hand: String, remapped: String), _ shift: String) throws {
    let byHand = try changes(names.hand, shift)
    #expect(try changes(names.remapped, shift) == byHand)
    #expect(!byHand.contains { $0.hasSuffix("capsLock") })
  }

  @Test("what becomes of Shift by default")
  func byDefault() throws {
    #expect(try changes("keyd-del") == ["shiftPressed>on", "shiftUsed>off"])
    #expect(try changes("keyd-one") == ["shiftPressed>on", "characterTyped>off"])
    // The page says so: in one frame with a character, a fast hand looks the same.
    #expect(
      try changes("firmware-one") == [
        "shiftPressed>on", "characterTyped>off", "shiftPressed>on", "characterTyped>off",
      ])
  }

  @Test("a key that never goes up ends Shift for 30 s only")
  func stuckKey() throws {
    #expect(try changes("stuck-key") == ["shiftPressed>on", "shiftPressed>capsLock"])
  }
}
