import TestSupport
import Testing

@testable import EventRecordings

/// The look at the beginning of a line that finds the format of a recording, beside the parsers.
@Suite("Lines that formats claim")
struct ClaimTests {
  private static let lines = """
    [       1.000000] /dev/input/event2: 0001 001e 00000001
    1-5: /dev/input/event2: 0001 001e 00000001
    12-345678: 0001 001e 00000001
    add device 1: /dev/input/event2
    /dev/input/event1: 0001 001e 00000001
    remove device 1: /dev/input/event2
      name:     "gpio-keys"
    Event: time 1.000000, type 1 (EV_KEY), code 30 (KEY_A), value 1
    Input driver version is 1.0.1
    Event: time 1.000000, -------------- SYN_REPORT ------------
      Event type 1 (EV_KEY)
    E: 1.000000 0001 001e 0001
    # EVEMU 1.3
    N: a keyboard
    - [  1, 300002,   1,  42,       2]
    """.split(separator: "\n")

  /// The lines, and each with some bytes inserted, replaced or removed.
  private static func changed() -> [[UInt8]] {
    var generator = SplitMix64(seed: 20_261_122)
    let bytes = Array(" \t[]/0159-:aE#.\u{0}\u{a0}".utf8)
    return lines.flatMap { line in
      (0..<300).map { round in
        // Only the beginning of a line decides which format claims it.
        let count = round % 4
        let (start, rest) = (Array(line.utf8.prefix(16)), line.utf8.dropFirst(16))
        return start.withChangedBytes(count...count, from: bytes, using: &generator) + rest
      }
    }
  }

  @Test("getevent and evtest claim every line that their parsers recognize, and headers")
  func claims() {
    var counts = (getevent: 0, evtest: 0)
    for bytes in Self.changed() {
      bytes.withUnsafeBytes { line in
        let isGetevent = GeteventParser().recognizes(line)
        let isPath = line.starts(with: "/dev/input/event".utf8)
        #expect(GeteventParser.claims(line) == (isGetevent || isPath), "\(bytes)")
        if EvtestParser().recognizes(line) {
          #expect(EvtestParser.claims(line), "\(bytes)")
          counts.evtest += 1
        }
        counts.getevent += isGetevent ? 1 : 0
      }
    }
    #expect(counts.getevent > 200 && counts.evtest > 200)
  }
}
