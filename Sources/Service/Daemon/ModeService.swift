import Configuration
import KeyboardModes
import System
import Terminal

/// Passes inputs from the source to the engine, and the engine's changes to the publisher and the
/// LEDs.
///
///     source.read ──> engine.process ──> publisher.publish ──> source.show
///                          └── wakeTime ──> alarm.set
final class ModeService {
  let source: any InputSource
  let engine: Engine
  let publisher: Publisher

  /// Which LEDs show each state.
  private var ledRules = LEDRules()
  /// The LEDs that the source was last told to switch on.
  private var ledsOn: LEDs = []

  /// The timer for ``wakeTime``. It is off while nothing will be due, so that the daemon sleeps.
  private var alarm: EventSource?

  /// When the alarm will expire, in microseconds of the boot clock; `nil` while it is off.
  private var alarmTime: UInt64?

  /// The last batch; the next one reuses its memory.
  private var batch = Batch()

  init(source: any InputSource, _ engine: Engine) {
    self.source = source
    self.engine = engine
    publisher = Publisher(engine, source)
  }

  /// Begins to follow the source.
  func start(on loop: EventLoop) throws(SystemError) {
    // Unowned: this object owns the alarm and the source, which call nothing after its end.
    let alarm = try loop.addTimer { [unowned self] in
      alarmTime = nil
      advance()
    }
    // The alarm comes before clients: a due change must not wait until clients are served.
    alarm.setPriority(.first)
    self.alarm = alarm
    try source.start(on: loop) { [unowned self] in advance() }
  }

  /// Processes the inputs so far, and everything that is due by now. Call this when the source is
  /// ready, and at ``wakeTime``.
  func advance() {
    source.read(into: &batch)
    process(batch)
  }

  /// When the alarm calls ``advance()`` if the source is not ready before; `nil` for never.
  var wakeTime: Time? { engine.wakeTime(forKeysUp: source.canFindKeysUp) }

  /// Sends a program's event, and returns whether it changed a state. Keys pressed earlier take
  /// effect first.
  func trigger(_ event: ClientEvent) -> Bool {
    advance()
    let (before, time) = (engine.ring.lastSequence, batch.reached)
    let (machine, name) = event.machineAndEvent(in: engine.settings)
    process(Batch([.client(event, at: time)], reached: time))
    // Counts only the event's own changes: a tap or a timeout may cause others in this call.
    return engine.ring.changes(after: before, upTo: engine.ring.lastSequence).contains {
      ($0.machine, $0.event, $0.time) == (machine, name, time)
    }
  }

  /// Applies a configuration. For keys that were pressed earlier, the old configuration applies.
  ///
  /// - Throws: if devices cannot be listed; the settings apply nevertheless.
  func apply(_ configuration: Configuration) throws(SystemError) {
    advance()
    // Set first: if the settings change a state, `process` must show it by the new rules.
    ledRules = configuration.leds
    process(Batch([.configured(configuration.settings, at: batch.reached)], reached: batch.reached))
    show(configuration.leds)
    // Reads the last keys of the devices that the source will close. `defer` reads the devices that
    // it has opened.
    advance()
    defer { advance() }
    try source.apply(configuration)
  }

  /// Shows the states on the LEDs of these rules from now on.
  func show(_ rules: LEDRules) {
    ledRules = rules
    ledsOn = rules.ledsOn(in: engine.states)
    source.show(LEDCommand(ledsOn, of: rules.used))
  }

  private func process(_ batch: Batch) {
    let hasNews = engine.process(batch) { source.keysUp(among: $0, on: $1) }
    // Clients come first: the alarm and the LEDs can wait a little.
    if hasNews { publisher.publish() }
    setAlarm()
    if hasNews, !ledRules.used.isEmpty, ledRules.ledsOn(in: engine.states) != ledsOn {
      show(ledRules)
    }
  }

  /// Sets the alarm if its time has changed: setting it takes longer than processing most keys.
  private func setAlarm() {
    // Clamped, because a recording at unlimited speed makes time jump.
    let time = wakeTime.map { UInt64(clamping: source.bootTime(reaching: $0)) }
    guard time != alarmTime else { return }
    alarmTime = time
    if let time { alarm?.set(at: time) } else { alarm?.disable() }
  }
}
