public import KeyboardModes
import System
import Terminal

/// A line about a key: the effect of its press, its release, or that it stays down. The line names
/// the key as a configuration does.
public struct KeyLine: Hashable, Sendable {
  /// The device of the key.
  public let device: DeviceID
  /// For a press, the key with the held modifiers, and the effect: the events that the press sends,
  /// `modifier`, or `free` if the press has no effect, as in `Super+V, free`. For a release, the
  /// key and the time since its press: `V, released after 80ms`. For a key that stays down, the
  /// time so far: `V, not released after 2s`.
  public let text: String
}

/// Makes lines of the inputs of keyboards: for presses, with the meaning that they have for the
/// daemon, for releases, and for keys that stay down.
public struct KeyLines {
  private var controller: Controller

  /// The keys that are down and whose presses have lines. `since` is the time of the press.
  /// `isReported` tells whether the key was reported as not released.
  private var down: [DeviceKey: (since: Time, isReported: Bool)] = [:]

  private struct DeviceKey: Hashable {
    let device: DeviceID
    let key: KeyCode
  }

  /// A key that is down for this time is reported as not released.
  private static let longPress = Duration.seconds(2)

  /// People hold keys longer than this, in microseconds. Some keys of laptops go up at once.
  private static let shortestPress = 15_000

  /// The latest time to handle the next batch, to report that a key is not released; `nil` if all
  /// keys that are down were reported.
  public var wakeTime: Time? {
    down.values.filter { !$0.isReported }.map(\.since).min().map {
      Time(microseconds: $0.microseconds &+ Self.longPress.wholeMicroseconds)
    }
  }

  /// Finds the meanings by these settings. No key is down yet.
  public init(settings: Settings) { controller = Controller(settings: settings) }

  /// Handles the next batch. Returns lines for its presses without bounces and autorepeats, for the
  /// releases of these, and for keys that have been down for long. Differences after a loss of
  /// events are left out, because their order is unknown.
  ///
  /// - Parameter keysUp: returns which of some keys the kernel reports as up on a device.
  public mutating func handle(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [KeyLine] {
    var lines: [KeyLine] = []
    var handled: [(input: Controller.Input, pressLine: KeyLine?)] = []
    controller.handle(batch, keysUp: keysUp) { controller, input in
      handled.append((input, Self.pressLine(input, controller)))
    }
    for (input, pressLine) in handled {
      if let line = note(pressLine, of: input) { lines.append(line) }
    }
    for (held, (since, isReported)) in down
    where !isReported && since < batch.noInputBefore
      && !since.isWithin(Self.longPress, of: batch.noInputBefore)
    {
      down[held] = (since, true)
      let text = "\(held.key.shortName), not released after \(Self.longPress.written)"
      lines.append(KeyLine(device: held.device, text: text))
    }
    return lines
  }

  private static func pressLine(_ input: Controller.Input, _ controller: Controller) -> KeyLine? {
    guard case .key(let device, let event) = input, event.action == .press,
      let (meaning, held) = controller.meaning(
        ofPress: event.key, on: device, at: event.time, inFrame: event.continuesFrame)
    else { return nil }
    let effect =
      switch meaning {
      case .shift: "shiftPressed"
      case .bound(let uses): text(of: uses, controller)
      case .character: "characterTyped"
      case .navigation, .button, .other, .altGr, .inert:
        Modifiers(of: event.key).isEmpty ? "free" : "modifier"
      }
    // Shift is shown without modifiers, because no chord ends in Shift.
    let name = event.key.shortName(with: event.key.isShift ? [] : held)
    return KeyLine(device: device, text: "\(name), \(effect)")
  }

  /// Notes which keys are down after an input. Returns the line to show: `pressLine`, or a line for
  /// the release of a key whose press has a line.
  private mutating func note(
    _ pressLine: KeyLine?, of input: Controller.Input
  ) -> KeyLine? {
    switch input {
    case .key(let device, let event) where pressLine != nil:
      down[DeviceKey(device: device, key: event.key)] = (event.time, false)
    case .key(let device, let event) where event.action == .release:
      guard let press = down.removeValue(forKey: DeviceKey(device: device, key: event.key)) else {
        return nil
      }
      let time = event.time.microseconds &- press.since.microseconds
      let shown = Duration.microseconds(time < 1000 ? time : time / 1000 * 1000).written
      let hint = time < Self.shortestPress ? ": at once, so you cannot hold it to talk" : ""
      return KeyLine(
        device: device, text: "\(event.key.shortName), released after \(shown)\(hint)")
    case .missedRelease(let device, let key, _): down[DeviceKey(device: device, key: key)] = nil
    case .synchronized(let device, _, _), .gone(let device, _):
      down = down.filter { $0.key.device != device }
    case .key, .opened, .allOpened, .leds, .client, .configured: break
    }
    return pressLine
  }

  /// The events of a chord: `startTalking, stopTalking on release`.
  private static func text(of press: BoundPress, _ controller: Controller) -> String {
    press.machineEvents.flatMap { one in
      let machine = controller.settings.machines[one.machineIndex]
      return one.events.withTriggers.map { event, trigger in
        let name = machine.name.prefix + machine.table.name(ofEvent: event)
        switch trigger {
        case .press: return name
        case .release: return "\(name) on release"
        case .hold: return "\(name) on hold"
        case .tap: return "\(name) on tap"
        case .gone: return "\(name) when unplugged"
        }
      }
    }.joined(separator: ", ")
  }
}
