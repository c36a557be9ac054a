public import KeyboardModes

/// A press of a key, in words: what the key is called in a configuration, and what its press does.
public struct PressedKey: Hashable, Sendable {
  /// The device of the key.
  public let device: DeviceID
  /// The key, after the modifiers that are held with it, and what the press does: the event that it
  /// sends, `modifier`, or `free` if it does nothing. `Super+V, free`.
  public let text: String
}

/// Finds the presses among the inputs of keyboards, with the meaning that they have for the daemon.
public struct KeyPresses {
  private var controller: Controller

  /// Finds the meanings by these settings. No key is down yet.
  public init(settings: Settings) { controller = Controller(settings: settings) }

  /// Takes the next batch, and returns the presses in it, without bounces and autorepeats. Presses
  /// that were found after a loss of events are not among them, because their order is unknown.
  ///
  /// - Parameter keysUp: returns which of some keys the kernel reports as up on a device.
  public mutating func take(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [PressedKey] {
    var presses: [PressedKey] = []
    for index in batch.inputs.indices {
      let input = batch.inputs[index]
      let rest = batch.inputs[(index + 1)...]
      for release in controller.missedReleases(before: input, followedBy: rest, keysUp: keysUp) {
        controller.take(release)
      }
      if let press = press(input) { presses.append(press) }
      controller.take(input)
    }
    return presses
  }

  private func press(_ input: Controller.Input) -> PressedKey? {
    guard case .key(let device, let event) = input, event.action == .press,
      let (meaning, held) = controller.meaning(ofPress: event.key, on: device, at: event.time)
    else { return nil }
    let use =
      switch meaning {
      case .shift: "shiftPressed"
      case .bound(let uses): text(of: uses)
      case .character: "characterTyped"
      case .navigation, .button, .other, .altGr, .inert:
        Modifiers(of: event.key).isEmpty ? "free" : "modifier"
      }
    // Shift acts alone: no chord ends in it.
    let name = event.key.shortName(with: event.key.isShift ? [] : held)
    return PressedKey(device: device, text: "\(name), \(use)")
  }

  /// The events of a chord: `startTalking, stopTalking on release`.
  private func text(of uses: ChordUses) -> String {
    uses.events.map { event, use in
      let name = controller.settings.keyboard.name(ofEvent: event)
      switch use {
      case .press: return name
      case .release: return "\(name) on release"
      case .hold: return "\(name) on hold"
      case .tap: return "\(name) on tap"
      }
    }.joined(separator: ", ")
  }
}
