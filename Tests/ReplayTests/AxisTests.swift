import KeyboardModes
import TestSupport
import Testing

@testable import Replay

@Suite("Timeline: axis")
struct AxisTests {
  @Test(
    "marks are at round times",
    arguments: [
      (0, 12_600_000, "0 s, 5 s, 10 s"),
      (300_000, 700_000, "0.3 s, 0.4 s, 0.5 s, 0.6 s, 0.7 s"),
      (
        99_999_999_000_000, 99_999_999_000_013,
        "99999999 s, 99999999.000005 s, 99999999.00001 s"
      ),
      (1, 10_000_000, "0 s, 2 s, 4 s, 6 s, 8 s, 10 s"),
    ])
  func marks(_ start: Int64, _ end: Int64, _ labels: String) {
    let marks = Axis(period: start...end, zero: 0).marks
    #expect(marks.map(\.label).joined(separator: ", ") == labels)
  }

  @Test("marks of any period are apart, accurate and inside the picture")
  func random() throws {
    var random = SplitMix64(seed: 7)
    func any() -> Int64 { Int64(random.next() >> (3 + random.next() % 60)) }
    for _ in 0..<5000 {
      let start = any()
      let end = min(start + any(), 1 << 60)
      let zero = start > 100_000_000_000_000 ? start : 0
      let axis = Axis(period: start...max(start, end), zero: zero)
      #expect((1...6).contains(axis.marks.count), "\(start) \(end)")
      for mark in axis.marks {
        #expect((128...784).contains(mark.x))
        // The label has the time of its line.
        let seconds = try #require(Double(mark.label.dropLast(2)))
        let share = (seconds * 1_000_000 + Double(zero - start)) / Double(axis.duration)
        let error = 1_000 * Double(zero + start) * 0x1p-52 / Double(axis.duration)
        #expect(abs(128 + share * 656 - mark.x) <= 0.66 + error)
      }
      for (one, next) in zip(axis.marks, axis.marks.dropFirst()) {
        #expect(next.x - one.x >= 656 / 5 - 0.66)
        #expect(one.label != next.label)
      }
    }
  }

  @Test(
    "times since boot are shown as they are, times since 1970 from the first event's second",
    arguments: [
      (0, 5, 5), (100_000_000_000_000, 7, 7),
      (100_000_000_000_001, 100_000_000_000_001, 1),
      (1_330_050_180_000_001, 1_330_050_181_500_000, 1_500_000),
      (1_330_050_180_000_000, 0, -1_330_050_180_000_000),
    ] as [(Int64, Int64, Int64)])
  func clock(_ first: Int64, _ recorded: Int64, _ shown: Int64) {
    let clock = DisplayClock(startingWith: at(first))
    #expect(clock.shown(at(recorded)) == at(shown))
    #expect(clock.recorded(at(shown)) == at(recorded))
    #expect(clock.recorded(at(.max)).microseconds == .max, "it does not overflow")
  }

  @Test("numbers have no more digits than they need")
  func numbers() {
    let coordinates = [0, 1, 0.004, 0.005, 0.1, 0.05, 12.999, 123.456].map(decimal)
    #expect(coordinates == ["0", "1", "0", "0.01", "0.1", "0.05", "13", "123.46"])
    #expect([1_500_000, 10_000_000, 0, 100].map(shortSeconds) == ["1.5", "10", "0", "0.0001"])
  }
}
