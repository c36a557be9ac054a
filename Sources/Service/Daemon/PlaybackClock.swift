import KeyboardModes

/// How fast a recording is played.
public enum PlaybackSpeed: Hashable, Sendable {
  /// This many times as fast as the recording was made.
  case times(Double)
  /// As fast as possible.
  case unlimited

  /// The speed written as a number from 0.001 to 1000, or `max`.
  public init?(_ text: String) {
    if text == "max" {
      self = .unlimited
    } else if let factor = Double(text), 0.001...1000 ~= factor {
      self = .times(factor)
    } else {
      return nil
    }
  }
}

/// Maps times of a recording to the real times of its playback, which are boot times in
/// microseconds.
struct PlaybackClock {
  private let speed: PlaybackSpeed

  /// A time of the recording, and the real time at which it was reached.
  private var anchor: (recorded: Time, microseconds: Int64)

  /// How fast recorded time passes, compared with real time, while no event is played.
  private var factor: Double { if case .times(let factor) = speed { factor } else { 1 } }

  /// A clock that reaches `recorded` at `microseconds`.
  init(_ speed: PlaybackSpeed, reaching recorded: Time, at microseconds: Int64) {
    self.speed = speed
    anchor = (recorded, microseconds)
  }

  /// The real time at which an event of the recording is to be played.
  func playTime(of recorded: Time) -> Int64 {
    speed == .unlimited ? .min : realTime(reaching: recorded)
  }

  /// The recorded time at a real time. Recorded time continues after the last event.
  func recordedTime(at microseconds: Int64) -> Time {
    let elapsed = Double(microseconds - anchor.microseconds)
    return Time(
      microseconds: Int64(saturating: Double(anchor.recorded.microseconds) + elapsed * factor))
  }

  /// The first real time at which ``recordedTime(at:)`` is at least `recorded`, if no event is
  /// played before.
  func realTime(reaching recorded: Time) -> Int64 {
    let ahead = (Double(recorded.microseconds) - Double(anchor.recorded.microseconds)) / factor
    return Int64(saturating: Double(anchor.microseconds) + ahead.rounded(.up))
  }

  /// Notes that an event was played. At unlimited speed, recorded time jumps to the event's time,
  /// and then passes like real time until the next event. At other speeds this does nothing.
  mutating func notePlayed(_ recorded: Time, at microseconds: Int64) {
    if speed == .unlimited { anchor = (recorded, microseconds) }
  }
}

extension Int64 {
  /// `number` rounded towards zero, clamped to the range of `Int64`.
  fileprivate init(saturating number: Double) {
    self = Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }
}
