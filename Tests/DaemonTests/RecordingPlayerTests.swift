import KeyboardModes
import TestSupport
import Testing

@testable import Daemon

@Suite("Recording player")
struct RecordingPlayerTests {
  @Test(
    "time neither steps back before the next input nor reaches it, at the same or a later time",
    arguments: [0, 1])
  func turns(_ step: Int) throws {
    let lines = (0..<1500).map { number in
      "E: 1.\(100_000 + number * step) 0001 \(16 + number / 2 % 10) \(1 - number % 2)\n"
    }
    let folder = try TemporaryFolder()
    let file = try folder.write("recording.evemu", "# EVEMU 1.3\n" + lines.joined())
    let player = try RecordingPlayer(file: file, speed: .unlimited)
    var batch = Batch()
    player.read(into: &batch)
    // Clients have their turn after so many inputs.
    #expect(batch.inputs.count == 1024)
    #expect(batch.reached == batch.inputs.last?.time)
  }
}
