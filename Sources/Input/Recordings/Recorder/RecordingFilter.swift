import KeyboardModes

/// Turns the inputs of keyboards into the inputs to write: adds the releases that a grab hid, and
/// redacts.
///
/// A redacted recording has only the inputs that count (``TwinKeys``). Otherwise keys on two nodes
/// of a keyboard could get the same new code and look like one key.
struct RecordingFilter {
  private var controller: Controller
  private var redactor: Redactor?
  private var twins = TwinKeys()

  /// A filter by these settings; it redacts unless it `showsKeyCodes`.
  init(settings: Settings, showsKeyCodes: Bool) {
    controller = Controller(settings: settings)
    guard !showsKeyCodes else { return }
    redactor = Redactor(bindings: settings.bindings, debounce: settings.debounce)
  }

  /// Adds a device that has these keys, before its first input.
  mutating func add(_ device: DeviceID, keys: KeySet) { redactor?.add(device, keys: keys) }

  /// The latest time to handle the next batch, so that the kernel is asked whether a key is still
  /// down; `nil` if no chord is active.
  var wakeTime: Time? { controller.nextCheck != nil ? controller.wakeTime : nil }

  /// Handles the next batch, and returns the inputs to write.
  ///
  /// - Parameter keysUp: returns which of some keys the kernel reports as up on a device.
  mutating func handle(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Controller.Input] {
    var complete: [Controller.Input] = []
    controller.handle(batch, keysUp: keysUp, beforeEach: { complete.append($1) })
    guard redactor != nil else { return complete }
    return complete.flatMap { twins.handle($0) }.compactMap { redactor?.redact($0) }
  }
}
