import KeyboardModes
import Testing

@testable import Daemon

@Suite("Playback clock")
struct PlaybackClockTests {
  private func at(_ microseconds: Int64) -> Time { Time(microseconds: microseconds) }

  @Test(
    "events are due and recorded time passes at the given speed",
    arguments: [(1.0, 3_000_000), (2.0, 1_500_000), (0.5, 6_000_000), (0.001, 3_000_000_000)])
  func speed(_ factor: Double, _ real: Int64) {
    let clock = PlaybackClock(.times(factor), reaching: at(1_000_000), at: 500)
    #expect(clock.playTime(of: at(1_000_000)) == 500)
    #expect(clock.playTime(of: at(4_000_000)) == 500 + real)
    #expect(clock.playTime(of: at(0)) < 500, "what steps back is due at once")
    #expect(clock.recordedTime(at: 500 + real) == at(4_000_000))
    #expect(clock.realTime(reaching: at(4_000_000)) == 500 + real)
  }

  @Test("at unlimited speed, recorded time goes on from the last event")
  func unlimited() {
    var clock = PlaybackClock(.unlimited, reaching: at(1_000_000), at: 500)
    #expect(clock.playTime(of: at(.max)) < 0)
    #expect(clock.recordedTime(at: 600) == at(1_000_100))
    clock.notePlayed(at(9_000_000), at: 700)
    #expect(clock.recordedTime(at: 700) == at(9_000_000))
    #expect(clock.recordedTime(at: 1700) == at(9_001_000))
    #expect(clock.realTime(reaching: at(9_001_000)) == 1700)
  }

  @Test("extreme times do not overflow", arguments: [0.001, 1000])
  func extremes(_ factor: Double) {
    for recorded in [Int64.min, .max] {
      let clock = PlaybackClock(.times(factor), reaching: at(recorded), at: .max)
      for other in [Int64.min, 0, .max] {
        _ = (clock.playTime(of: at(other)), clock.realTime(reaching: at(other)))
      }
      _ = clock.recordedTime(at: 0)
    }
  }

  @Test("a speed is from 0.001 to 1000, or max")
  func speeds() {
    #expect(PlaybackSpeed("max") == .unlimited)
    #expect(PlaybackSpeed("0.5") == .times(0.5))
    for text in ["", "0", "-1", "1001", "0.0001", "nan", "inf", "1x", "Max"] {
      #expect(PlaybackSpeed(text) == nil, "\(text)")
    }
  }
}
