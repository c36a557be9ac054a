import KeyboardModes
import Testing
import Timelines

@Suite("Timeline: display clock")
struct DisplayClockTests {
  @Test(
    "times since boot are shown as they are, times since 1970 from the first event's second",
    arguments: [
      (0, 5, 5), (100_000_000_000_000, 7, 7),
      (100_000_000_000_001, 100_000_000_000_001, 1),
      (1_330_050_180_000_001, 1_330_050_181_500_000, 1_500_000),
      (1_330_050_180_900_000, 1_330_050_180_000_000, 0),
      (1_330_050_180_000_000, 0, -1_330_050_180_000_000),
    ] as [(Int64, Int64, Int64)])
  func shown(_ first: Int64, _ recorded: Int64, _ shown: Int64) {
    let clock = DisplayClock(startingWith: at(first))
    #expect(clock.shown(at(recorded)) == at(shown))
    #expect(clock.recorded(at(shown)) == at(recorded))
  }

  @Test("times that do not fit neither wrap nor end the program")
  func extremes() {
    let clock = DisplayClock(startingWith: at(.max))
    #expect(clock.recorded(at(1_000_000)) == at(.max))
    #expect(clock.shown(at(.max)).microseconds < 1_000_000)
    #expect(clock.shown(at(.min)) == at(.min))
  }
}
