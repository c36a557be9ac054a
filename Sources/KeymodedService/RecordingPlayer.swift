import EventRecordings
import KeyboardModes
import SystemCalls
import Systemd

/// How fast a recording is played.
public enum PlaybackSpeed: Hashable, Sendable {
  /// This many times as fast as it was recorded.
  case times(Double)
  /// Without waiting.
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

/// Plays a recording in place of a keyboard.
final class RecordingPlayer: InputSource {
  /// How many events are played before clients have their turn.
  private static let turn = 1024

  private let device = DeviceID(order: 0)
  private let speed: PlaybackSpeed
  private var recording: Recording
  private var upcoming: KeyEvent?
  private var timer: EventSource?
  private var continuation: EventSource?

  /// A time of the recording, and the time since boot at which it was reached.
  private var anchor: (recorded: Time, microseconds: Int64)

  /// Takes what happened, in order.
  var deliver: ([Controller.Input]) -> Void = { _ in }

  /// Opens the recording, and reads it through once, so that one with a fault is refused before
  /// anything of it has been published.
  init(file: String, speed: PlaybackSpeed) throws(RecordingError) {
    var check = try Recording(opening: file) { Log.warning("\($0)") }
    while try check.next() != nil {}
    recording = try Recording(opening: file)
    upcoming = try recording.next()
    self.speed = speed
    anchor = (upcoming?.time ?? Time(microseconds: 0), microsecondsSinceBoot())
  }

  func start(_ loop: EventLoop) throws(SystemError) {
    timer = try loop.addTimer { [unowned self] in play() }
    continuation = try loop.addDeferred { [unowned self] in play() }
    anchor.microseconds = microsecondsSinceBoot()
    deliver([.opened(device, held: [])])
    continuation?.callSoon()
  }

  /// The recorded time that has been reached. After the end it goes on.
  var now: Time {
    let elapsed = Double(microsecondsSinceBoot() - anchor.microseconds)
    return Time(
      microseconds: Int64(
        saturating: Double(anchor.recorded.microseconds) + elapsed * factor))
  }

  func catchUp() { play() }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] { [] }

  /// How fast recorded time goes by while nothing is played.
  private var factor: Double {
    switch speed {
    case .times(let factor): factor
    case .unlimited: 1
    }
  }

  private func play() {
    guard upcoming != nil else { return }
    let microseconds = microsecondsSinceBoot()
    var inputs: [Controller.Input] = []
    while let event = upcoming, inputs.count < Self.turn, due(event) <= microseconds {
      inputs.append(.key(device, event))
      if speed == .unlimited { anchor = (event.time, microseconds) }
      advance()
    }
    if !inputs.isEmpty { deliver(inputs) }
    guard let event = upcoming else { return }
    let due = due(event)
    if due <= microseconds {
      continuation?.callSoon()
    } else {
      timer?.set(at: UInt64(clamping: due))
    }
  }

  /// The time since boot at which `event` is to be played.
  private func due(_ event: KeyEvent) -> Int64 {
    guard case .times(let factor) = speed else { return .min }
    let recorded = Double(event.time.microseconds) - Double(anchor.recorded.microseconds)
    return Int64(saturating: Double(anchor.microseconds) + recorded / factor)
  }

  private func advance() {
    do {
      upcoming = try recording.next()
      if upcoming == nil { Log.info("the recording has ended; its states are still served") }
    } catch {
      // The file was whole when it was checked.
      Log.warning("\(error)")
      upcoming = nil
    }
  }
}

extension Int64 {
  /// The whole number nearest to zero, or the furthest there is.
  fileprivate init(saturating number: Double) {
    self = Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }
}
