import Configuration
import KeyboardModes
import Testing
import Wire

@testable import Daemon

/// A service that follows fake keyboards.
struct TestService {
  let keyboards: FakeKeyboards
  let service: ModeService

  init(
    _ settings: Settings = Settings(), _ keyboards: FakeKeyboards = FakeKeyboards(),
    ringCapacity: Int = 1024, _ store: StateStore? = nil
  ) {
    self.keyboards = keyboards
    let engine = Engine(
      settings: settings, ringCapacity: ringCapacity, store: store, at: keyboards.now)
    service = ModeService(source: keyboards, engine)
  }

  var controller: Controller { service.engine.controller }
  var publisher: Publisher { service.publisher }

  /// The keyboards hand these over at once.
  func handle(_ inputs: [Controller.Input]) {
    keyboards.unread += inputs
    service.advance()
  }

  /// The timer of the deadline has fired.
  func awake() { service.advance() }

  /// The time for which the timer is set; `nil` while it is off.
  var wakeTime: Time? { service.wakeTime }

  /// A program sends the event of this name.
  @discardableResult
  func trigger(_ name: String) throws -> Bool {
    let event = try #require(ClientEvent(name: name, in: controller.settings.machines))
    return service.trigger(event)
  }

  func state() -> StateMessage { service.engine.stateMessage(at: keyboards.now) }

  /// Applies these settings, as a reload does.
  func apply(_ settings: Settings, _ rules: LEDRules = LEDRules()) throws {
    var configuration = Configuration()
    configuration.settings = settings
    configuration.leds = rules
    try service.apply(configuration)
  }

  /// Answers calls as a daemon with this service does.
  func callHandler(sinceBoot: @escaping () -> Int64 = { 0 }) -> CallHandler {
    CallHandler(service, ConfigurationFile(""), sinceBoot: sinceBoot)
  }

  /// The complete first reply to a new subscriber.
  func firstMessage(after: Int64?, instance: String?) throws -> MonitorReply {
    var (first, position) = try publisher.subscribe(after: after, instance: instance)
    if let first { return first }
    var bytes: [UInt8] = []
    repeat {
      bytes += try #require(publisher.next(for: &position))
    } while position.endOfMessage != nil
    return try #require(MonitorReply(try Reply(parsing: bytes.dropLast()).parameters))
  }
}
