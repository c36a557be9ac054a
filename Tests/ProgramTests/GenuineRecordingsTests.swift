import Foundation
import TestSupport
import Testing
import Wire

/// Recordings of a real kernel: the same typing by four programs at once, and in
/// one chords on a keyboard and a mouse.
@Suite("Genuine recordings")
struct GenuineRecordingsTests {
  private static let folder = "\(checkout)/Tests/RecordingsTests/Recordings"

  private func changes(_ lines: String) throws -> [JSON] {
    try lines.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
  }

  private func withoutTimes(_ changes: [JSON]) -> [[JSON?]] {
    changes.map { change in ["sequence", "machine", "from", "to", "event"].map { change[$0] } }
  }

  @Test(
    "the typing has the same changes in every format, however it is read",
    arguments: [
      ("typing.evemu", "evemu"), ("typing.libinput.yaml", "libinput"), ("typing.evtest", "evtest"),
      ("typing.raw64", "raw64"),
    ])
  func typing(_ name: String, _ format: String) throws {
    let file = "'\(Self.folder)/\(name)'"
    let outputs = try [file, "- <\(file)", "--format \(format) \(file)", "--lenient \(file)"].map {
      let ended = try run("/bin/sh", "-c", "'\(Place.programs)/keymodectl' replay --json \($0)")
      #expect((ended.status, ended.errors) == (0, ""), "\($0)")
      return ended.output
    }
    #expect(Set(outputs).count == 1)
    let replayed = try changes(withoutStates(outputs[0]))
    let expected = try changes(
      String(contentsOfFile: "\(Self.folder)/typing.jsonl", encoding: .utf8))
    #expect(expected.count == 11)
    #expect(withoutTimes(replayed) == withoutTimes(expected))
    let distances = try zip(expected, replayed).map { first, other in
      try #require(other["time"]?.integer) - #require(first["time"]?.integer)
    }
    let (least, most) = try (#require(distances.min()), #require(distances.max()))
    #expect(most - least <= 1, "each clock rounds to microseconds by itself")
    let states = Set(expected.compactMap { $0["to"]?.string })
    #expect(states.isSuperset(of: ["off", "on", "capsLock", "prepareToRecord", "showingPanel"]))
  }

  /// The output of `replay --json` without its first and last line.
  private func withoutStates(_ output: String) -> String {
    output.split(separator: "\n").dropFirst().dropLast().map { "\($0)\n" }.joined()
  }

  @Test("the chords have the changes that the daemon made of them")
  func chords() throws {
    let ended = try run(
      "keymodectl", "replay", "--json", "\(Self.folder)/chords.libinput.yaml")
    #expect((ended.status, ended.errors) == (0, ""))
    let expected = try String(contentsOfFile: "\(Self.folder)/chords.jsonl", encoding: .utf8)
    #expect(withoutStates(ended.output) == expected)
  }
}
