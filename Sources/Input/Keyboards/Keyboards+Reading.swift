import Glibc
public import KeyboardModes
import System
import Terminal

extension Keyboards {
  /// The number of events of one device after which, at the end of a frame, other devices are read.
  private static let eventsPerTurn = 64

  /// The maximum number of reads for which a device that has ended waits for the events of other
  /// devices. That many reads return more events than the kernel keeps for a device.
  private static let maxDelayingReads = 64

  /// A key is read at most this long after its time stamp, in microseconds. The kernel takes far
  /// less, and the delay is too short to notice.
  public static let maxLateness: Int64 = 1000

  /// The first and the last delay before the kernel is asked for the LEDs, in microseconds. Each
  /// delay begins when the previous delay ends. Most desktops have switched the LEDs after the
  /// first delay, but Xorg takes a second and more for a switch of consoles.
  private static let ledDelays: ClosedRange<Int64> = 50_000...3_200_000

  /// The present time, on the clock that stamps the events of devices.
  public static var now: Time { Time(microseconds: microsecondsSinceBoot()) }

  /// The first boot time, in microseconds, at which ``read(into:)`` can return a batch whose
  /// ``Batch/noInputBefore`` is `time`.
  public static func bootTime(reaching time: Time) -> Int64 {
    let (sum, overflow) = time.microseconds.addingReportingOverflow(maxLateness)
    return overflow ? .max : sum
  }

  /// The result of reading one device.
  private enum Outcome {
    case drained
    case more
    case ended(SystemError?)
  }

  /// A device that has ended, and the error if it was not removed.
  private typealias Ended = (id: DeviceID, error: SystemError?)

  /// Reads all devices, and replaces `batch` by their inputs up to now in the order of time.
  ///
  /// Reads all devices, not only the device that woke the loop: on a busy machine, other devices
  /// may have earlier events by the time that the daemon runs. An event that occurs during this
  /// read waits until all devices have been read again, so that it does not overtake an earlier
  /// event.
  ///
  /// - Parameter batch: its ``Batch/reached`` becomes the time up to which all events of the kernel
  ///   have been handed over, and its ``Batch/noInputBefore`` is earlier by ``maxLateness``.
  public func read(into batch: inout Batch) {
    let (limit, ended) = readAll()
    waiting.take(upTo: limit, into: &nextInputs)
    reached = limit
    unfollow(ended)
    if asksForLEDs, !mayHaveUnread { askForLEDs(at: limit) }
    // Both arrays keep their memory. For few elements, `removeAll` would take longer.
    swap(&batch.inputs, &nextInputs)
    while !nextInputs.isEmpty { nextInputs.removeLast() }
    batch.reached = limit
    batch.noInputBefore = Time(microseconds: limit.microseconds - Self.maxLateness)
    // Events in `waiting` or in libevdev's queue do not make a descriptor readable.
    if !waiting.isEmpty || mayHaveUnread { eventSources?.continuation.callSoon() }
  }

  /// Reads all devices that have something to read.
  ///
  /// - Returns: the time up to which everything has been read, and the devices that have ended.
  private func readAll() -> (limit: Time, ended: [Ended]) {
    var limit = Self.now
    var ended: [Ended] = []
    // A single device is read without asking whether it is ready.
    let isAlone = followed.count == 1
    if !isAlone { eventSources?.loop.findReady() }
    mayHaveUnread = false
    for index in followed.indices
    where isAlone || followed[index].mayHaveUnread || isReady(followed[index].device) {
      switch read(at: index, after: limit) {
      case .drained: followed[index].mayHaveUnread = false
      case .more:
        followed[index].mayHaveUnread = true
        mayHaveUnread = true
        if let last = waiting.lastFrameTime(of: index) { limit = min(limit, last) }
      case .ended(let error):
        // Reads the device again until it is let go: the kernel may report its end only once.
        followed[index].mayHaveUnread = true
        ended.append((followed[index].id, error))
      }
    }
    return (limit, ended)
  }

  /// Lets go of the devices that have ended. For up to ``maxDelayingReads`` reads, they wait until
  /// the earlier events of other devices have taken effect.
  private func unfollow(_ ended: [Ended]) {
    if !ended.isEmpty, mayHaveUnread || !waiting.isEmpty, delayingReads < Self.maxDelayingReads {
      delayingReads += 1
      mayHaveUnread = true
      return
    }
    delayingReads = 0
    for (id, error) in ended {
      guard let keyboard = followed.first(where: { $0.id == id }) else { continue }
      unfollow(keyboard, error.map(Report.failed) ?? .gone(id, keyboard.device))
    }
  }

  /// Asks the kernel for the lock LEDs of all devices: a grab hides LED events.
  private func askForLEDs(at time: Time) {
    asksForLEDs = false
    for keyboard in followed {
      guard let report = keyboard.device.changedLEDs() else { continue }
      nextInputs.append(.leds(keyboard.id, report, at: time))
    }
  }

  /// Asks for the lock LEDs after a short delay, and again after longer delays, because the desktop
  /// or the kernel switches the LEDs late.
  func askForLEDsSoon() {
    askForLEDs(after: Self.ledDelays.lowerBound)
  }

  /// Asks for the lock LEDs at the next read. Asks again later unless this was the last delay.
  func ledDelayHasPassed() {
    asksForLEDs = true
    if ledDelay < Self.ledDelays.upperBound { askForLEDs(after: 4 * ledDelay) }
  }

  private func askForLEDs(after delay: Int64) {
    ledDelay = delay
    eventSources?.ledTimer.set(at: UInt64(clamping: Self.now.microseconds + delay))
  }

  private func isReady(_ device: InputDevice) -> Bool {
    eventSources?.loop.isReady(device.descriptor) ?? true
  }

  private func read(at index: Int, after past: Time) -> Outcome {
    let (device, id) = (followed[index].device, followed[index].id)
    defer { waiting.endFrame(of: index) }
    var count = 0
    do {
      while true {
        switch try device.next(after: past) {
        case .key(let event):
          waiting.append(.key(id, event), at: event.time, of: index)
          count += 1
          if event.action != .autorepeat {
            followed[index].note(event.key, isDown: event.action == .press, at: event.time)
          }
          if event.key.isLock, event.action == .press { askForLEDsSoon() }
        case .led(let report, let time):
          waiting.append(.leds(id, report, at: time), at: time, of: index)
          asksForLEDs = true
          count += 1
        case .synchronized(let differences, let time):
          for key in differences { followed[index].note(key.key, isDown: key.isDown, at: time) }
          waiting.endFrame(of: index)
          waiting.append(.synchronized(id, differences, at: time), at: time, of: index)
          waiting.endFrame(of: index)
          asksForLEDs = true
          count += 1
        case .frameEnd:
          waiting.endFrame(of: index)
          if count >= Self.eventsPerTurn { return .more }
        case .drained: return .drained
        case .gone: return .ended(nil)
        }
      }
    } catch {
      return .ended(error)
    }
  }
}
