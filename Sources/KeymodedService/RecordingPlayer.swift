import EventRecordings
import KeyboardModes
import KeymodeInterface
import SystemCalls
import Systemd

/// Plays a recording in place of a keyboard.
final class RecordingPlayer: InputSource {
  /// How many events are played before clients have their turn.
  private static let turn = 1024

  private let speed: PlaybackSpeed
  private var clock: PlaybackClock
  private var recording: Recording
  private var upcoming: RecordedInput?

  /// The inputs behind `upcoming` that have been read.
  private var rest: ArraySlice<RecordedInput> = []

  /// The time of the last input that had one.
  private var reached = Time(microseconds: 0)
  private var timer: EventSource?
  private var continuation: EventSource?

  /// Takes what happened, in order.
  var deliver: ([Controller.Input]) -> Void = { _ in }

  /// Opens the recording, and reads it through once, so that one with a fault is refused before
  /// anything of it has been published.
  init(file: String, speed: PlaybackSpeed) throws(RecordingError) {
    recording = try Recording(opening: [file]) { Log.warning("\($0)") }
    var first: Time?
    while let batch = try recording.next() { first = first ?? batch.inputs.first?.time }
    try recording.rewind()
    // What has no time of its own, such as the keys held at the start, is played at once.
    reached = first ?? reached
    rest = try recording.next()?.inputs[...] ?? []
    upcoming = rest.popFirst()
    self.speed = speed
    clock = PlaybackClock(speed, reaching: Time(microseconds: 0), at: 0)
  }

  func start(_ loop: EventLoop) throws(SystemError) {
    timer = try loop.addTimer { [unowned self] in play() }
    // As those of keyboards, whose part it plays.
    timer?.take(.first)
    continuation = try loop.addDeferred { [unowned self] in play() }
    clock = PlaybackClock(speed, reaching: reached, at: microsecondsSinceBoot())
    continuation?.callSoon()
  }

  var now: Time { clock.time(at: microsecondsSinceBoot()) }

  func catchUp() -> Time {
    play()
    guard let upcoming else { return now }
    // What is due and has to wait for its turn may have the time of what has been played.
    let next = (upcoming.time ?? reached).microseconds
    return max(reached, min(now, Time(microseconds: next == .min ? next : next - 1)))
  }

  func realTime(reaching time: Time) -> Int64 { clock.reached(time) }

  var devices: [DeviceMessage] { [] }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] { [] }

  private func play() {
    guard upcoming != nil else { return }
    let now = microsecondsSinceBoot()
    var inputs: [Controller.Input] = []
    while let next = upcoming, inputs.count < Self.turn {
      let time = next.time ?? reached
      guard clock.due(time) <= now else { break }
      inputs.append(next.input)
      clock.played(time, at: now)
      reached = time
      advance()
    }
    if !inputs.isEmpty { deliver(inputs) }
    guard let upcoming else { return }
    let due = clock.due(upcoming.time ?? reached)
    if due <= now {
      continuation?.callSoon()
    } else {
      timer?.set(at: UInt64(clamping: due))
    }
  }

  private func advance() {
    do {
      if rest.isEmpty, let batch = try recording.next() { rest = batch.inputs[...] }
      upcoming = rest.popFirst()
      if upcoming == nil { Log.info("the recording has ended; its states are still served") }
    } catch {
      // It was whole when it was checked, so somebody is writing to it.
      Log.warning("\(error)")
      upcoming = nil
    }
  }
}
