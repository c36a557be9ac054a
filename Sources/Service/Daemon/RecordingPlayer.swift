import KeyboardModes
import Recordings
import System
import Terminal
import Wire

/// Plays a recording instead of a keyboard.
final class RecordingPlayer: InputSource {
  /// How many inputs are played before clients have their turn.
  private static let inputsPerTurn = 1024

  private let speed: PlaybackSpeed
  private var clock: PlaybackClock
  private var recording: Recording
  private var upcoming: Controller.Input?

  /// The inputs after `upcoming` in its batch.
  private var rest: ArraySlice<Controller.Input> = []

  /// The time of the last played input that had a time.
  private var reached = Time(microseconds: 0)

  /// Has the usual priority, so that clients have their turn however fast the recording is played.
  private var timer: EventSource?

  /// Opens the recording and reads all of it once: a faulty recording is refused before any of it
  /// is published.
  init(file: String, speed: PlaybackSpeed) throws(RecordingError) {
    recording = try Recording(opening: [file]) { Log.warning("\($0)") }
    try recording.checkThatAllAreFiles()
    var first: Time?
    do throws(RecordingError) {
      while let batch = try recording.next() { first = first ?? batch.inputs.first?.time }
    } catch {
      throw recording.explained(error)
    }
    recording = try Recording(opening: [file])
    // Inputs before the first time, such as keys held at the start, get that time.
    reached = first ?? reached
    // This input is played first. Then the recording's first input is read.
    upcoming = .allOpened(at: reached)
    self.speed = speed
    clock = PlaybackClock(speed, reaching: reached, at: microsecondsSinceBoot())
  }

  func start(on loop: EventLoop, ready: @escaping () -> Void) throws(SystemError) {
    clock = PlaybackClock(speed, reaching: reached, at: microsecondsSinceBoot())
    timer = try loop.addTimer(handler: ready)
    timer?.set(at: 0)
  }

  var now: Time { clock.recordedTime(at: microsecondsSinceBoot()) }

  func read(into batch: inout Batch) {
    batch.inputs.removeAll(keepingCapacity: true)
    play(into: &batch.inputs)
    batch.reached = now
    if let upcoming {
      // Time stays before the next input, unless the last played input had the same time.
      let next = (upcoming.time ?? reached).microseconds
      let before = Time(microseconds: next == .min ? next : next - 1)
      batch.reached = max(reached, min(batch.reached, before))
    }
    batch.noInputBefore = batch.reached
  }

  func bootTime(reaching time: Time) -> Int64 { clock.realTime(reaching: time) }

  var devices: [DeviceMessage] { [] }

  private func play(into inputs: inout [Controller.Input]) {
    guard upcoming != nil else { return }
    let now = microsecondsSinceBoot()
    while let next = upcoming, inputs.count < Self.inputsPerTurn {
      let time = next.time ?? reached
      guard clock.playTime(of: time) <= now else { break }
      inputs.append(next)
      clock.notePlayed(time, at: now)
      reached = time
      readUpcoming()
    }
    guard let upcoming else { return }
    timer?.set(at: UInt64(clamping: clock.playTime(of: upcoming.time ?? reached)))
  }

  private func readUpcoming() {
    do {
      if rest.isEmpty, let batch = try recording.next() { rest = batch.inputs[...] }
      upcoming = rest.popFirst()
      if upcoming == nil { Log.info("the recording has ended; its states are still served") }
    } catch {
      // The recording was valid when it was opened, so another program has changed it.
      Log.warning("\(error)")
      upcoming = nil
    }
  }
}
