import TestSupport
import Testing

@testable import Timelines

private let century = (0...6).map { $0 == 0 ? "0 s" : "\($0 * 5)00000000 s" }

@Suite("Timeline: axis")
struct AxisTests {
  @Test(
    "marks are at round times",
    arguments: [
      (0, 12_600_000, ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s"]),
      (
        300_000, 700_000,
        ["0.30 s", "0.35 s", "0.40 s", "0.45 s", "0.50 s", "0.55 s", "0.60 s", "0.65 s", "0.70 s"]
      ),
      (
        -1_500_000, 500_000,
        [
          "-1.4 s", "-1.2 s", "-1.0 s", "-0.8 s", "-0.6 s", "-0.4 s", "-0.2 s", "0.0 s", "0.2 s",
          "0.4 s",
        ]
      ),
      (
        99_999_999_000_000, 99_999_999_000_013,
        ["99999999.000000 s", "99999999.000005 s", "99999999.000010 s"]
      ),
      (0, 3_155_760_000_000_000, century),
    ])
  func marks(_ start: Int64, _ end: Int64, _ labels: [String]) {
    #expect(Axis(period: start...end, zero: 0).marks.map(\.label) == labels)
  }

  @Test("marks of any period are apart, accurate and inside the picture")
  func random() throws {
    var random = SplitMix64(seed: 7)
    func any() -> Int64 { Int64(bitPattern: random.next()) >> Int64(3 + random.next() % 60) }
    for _ in 0..<20_000 {
      let (start, length) = (any(), any().magnitude)
      let end = min(start + Int64(length), 1 << 60)
      let axis = Axis(
        period: start...max(start, end), zero: start > 100_000_000_000_000 ? start : 0)
      let marks = axis.marks
      #expect((1...11).contains(marks.count), "\(start) \(end)")
      for mark in marks {
        let half = Double(mark.label.count) * 0.62 * 11 / 2
        #expect(mark.labelX - half >= 7.99 && mark.labelX + half <= 792.01)
        #expect(abs(mark.labelX - mark.x) <= half)
        #expect((104...784).contains(mark.x))
        // The label has the time of its line.
        let seconds = try #require(Double(mark.label.dropLast(2)))
        let share = (seconds * 1_000_000 + Double(axis.zero - start)) / Double(axis.duration)
        let error =
          1_000 * Double(axis.zero.magnitude + start.magnitude) * 0x1p-52 / Double(axis.duration)
        #expect(abs(104 + share * 680 - mark.x) <= 0.51 + error)
      }
      for (one, next) in zip(marks, marks.dropFirst()) {
        let room = next.labelX - one.labelX
        #expect(room >= Double(one.label.count + next.label.count) / 2 * 0.62 * 11 + 7.99)
        #expect(one.label != next.label)
      }
    }
  }
}
