import KeyboardModes
import KeymodedConfiguration
import SystemCalls

/// The way of values through the daemon: from the source to the engine, and its changes to the
/// publisher and the indicators.
///
///     source.read ──> engine.take ──> publisher.publish ──> indicators.show
///                          └── wakeTime ──> source.wake
final class ModeService {
  let source: any InputSource
  let engine: Engine
  let publisher: Publisher
  private var indicators = Indicators()

  /// The last batch, whose memory the next one uses again.
  private var batch = Batch()

  init(source: any InputSource, _ engine: Engine) {
    self.source = source
    self.engine = engine
    publisher = Publisher(engine, source)
  }

  /// Takes what has happened by now. The source is ready, or the engine's deadline has come.
  func advance() {
    var batch = Batch()
    swap(&batch, &self.batch)
    source.read(into: &batch)
    take(batch)
    swap(&batch, &self.batch)
  }

  /// Sends an event of a program, and returns whether it changed a state. Keys that were pressed
  /// before act before it.
  func trigger(_ event: ClientEvent) -> Bool {
    advance()
    return take(Batch([.client(event, at: batch.reached)], reached: batch.reached))
  }

  /// Applies a configuration. Keys that were pressed before act by the one that it replaces.
  ///
  /// - Throws: if devices cannot be listed; the settings apply nevertheless.
  func apply(_ configuration: Configuration) throws(SystemError) {
    advance()
    // The states that the settings lead to are shown by the new rules alone.
    indicators.rules = configuration.leds
    take(Batch([.configured(configuration.settings, at: batch.reached)], reached: batch.reached))
    show(configuration.leds)
    // Keys of devices that are about to be released count.
    advance()
    defer { advance() }
    try source.follow(configuration)
  }

  /// Shows the states on the LEDs of these rules from now on.
  func show(_ rules: LEDRules) { source.show(indicators.show(engine.controller.modes, by: rules)) }

  @discardableResult
  private func take(_ batch: Batch) -> Bool {
    let hasChanges = engine.take(batch) { source.keysUp(among: $0, on: $1) }
    // Clients first: all else can be a little later.
    if hasChanges { publisher.publish() }
    source.wake(at: engine.wakeTime)
    guard hasChanges else { return false }
    if let leds = indicators.show(engine.controller.modes) { source.show(leds) }
    return true
  }
}
