import EventRecordings
import Evdev
import Glibc
import KeyboardModes
import KeymodeInterface
import KeymodedConfiguration
import LinuxInput
import SystemCalls
import Systemd

/// The daemon, put together.
public final class Daemon {
  /// Where key events come from.
  public enum Source: Hashable, Sendable {
    /// All keyboards of the machine.
    case allKeyboards
    /// The devices at these paths.
    case devices([String])
    /// A recording in place of devices.
    case recording(String, PlaybackSpeed)
  }

  private let loop: EventLoop
  private let service: ModeService
  private let server: Server
  private let start: () throws(SystemError) -> Void
  private let follow: (Configuration) throws(SystemError) -> Void
  private let passed: PassedDescriptors
  private let file: ConfigurationFile
  private let notifyStatus: () -> Void
  private var ownSockets: OwnSockets?
  private var signals: [EventSource] = []

  /// Runs only while something is due: an idle daemon is not woken.
  private let timer: EventSource

  /// Puts a daemon together; nothing is opened but a recording, which is checked.
  ///
  /// - Parameter configurationFile: what is read now, and again by SIGHUP; the file of the system where
  ///   it is `nil`.
  public init(configurationFile: String?, _ source: Source) throws {
    let loop = try EventLoop()
    let service: ModeService
    let configuration: Configuration
    passed = try PassedDescriptors()
    switch source {
    case .allKeyboards, .devices:
      // Before the configuration, which matters less where the unit has room for one of them.
      let states = passed.takeStates()
      let file = ConfigurationFile(configurationFile, keptIn: passed.takeConfiguration())
      self.file = file
      configuration = try file.start()
      let input = KeyboardSource()
      service = ModeService(
        settings: configuration.settings, source: input, store: states)
      let notifyStatus = { [unowned input] in
        let warning = file.inForce.warning.map { "; \($0)" } ?? ""
        ServiceManager.notify("STATUS=devices followed: \(input.count)\(warning)")
      }
      self.notifyStatus = notifyStatus
      let keyboards = Keyboards(
        loop, KeyboardSource.selection(source, configuration),
        deliver: { [unowned service] in service.take($0) },
        report: { event in
          Self.log(event)
          notifyStatus()
        })
      input.keyboards = keyboards
      follow = { configuration throws(SystemError) in
        try keyboards.follow(KeyboardSource.selection(source, configuration))
      }
      start = { () throws(SystemError) in
        try keyboards.start()
        if keyboards.count == 0 { Log.info("no keyboard can be read yet; waiting for one") }
      }
    case .recording(let recording, let speed):
      file = ConfigurationFile(configurationFile, keptIn: nil)
      configuration = try file.start()
      let player = try RecordingPlayer(file: recording, speed: speed)
      service = ModeService(settings: configuration.settings, source: player)
      player.deliver = { [unowned service] in service.take($0) }
      notifyStatus = {}
      follow = { _ in }
      start = { () throws(SystemError) in try player.start(loop) }
    }
    self.loop = loop
    self.service = service
    service.configurationInForce = file.inForce
    // As soon as there are any.
    service.show(configuration.lights)
    server = try Server(loop, service)
    service.changed = { [unowned server] in server.publish() }
    timer = try loop.addTimer { [unowned service] in service.awake() }
    // As those of keyboards: what is due would have come before what they tell next.
    timer.take(.first)
    service.wake = { [source = service.source, timer] deadline in
      guard let deadline else { return timer.disable() }
      timer.set(at: UInt64(clamping: source.realTime(reaching: deadline)))
    }
  }

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Parameter directory: where to make the sockets, if the service manager passed none.
  public func run(socketDirectory directory: String?) throws {
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGTERM, SIGINT] {
      signals.append(try loop.addSignal(number) { [loop] in loop.stop() })
    }
    signals.append(try loop.addSignal(SIGHUP) { [unowned self] in reload() })
    // However much clients ask.
    for signal in signals { signal.take(.first) }
    try listen(directory)
    try start()
    // The daemon before this one may have left something to be done.
    service.watchTime()
    try loop.reportToWatchdog()
    notifyStatus()
    ServiceManager.notify("READY=1")
    try loop.run()
    ServiceManager.notify("STOPPING=1")
    // What nobody follows any more is not shown.
    service.show(LightRules())
  }

  /// Applies the configuration as it is now. One that is bad is refused, and the old one stays.
  private func reload() {
    ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(microsecondsSinceStart())")
    defer { ServiceManager.notify("READY=1") }
    service.reloads += 1
    defer {
      service.configurationInForce = file.inForce
      notifyStatus()
      // A large file took much more than itself.
      releaseFreeMemory()
    }
    guard let configuration = file.reload() else {
      return Log.warning("the configuration stays as it was")
    }
    service.apply(configuration.settings, configuration.lights)
    follow(changed: configuration)
    Log.info("the configuration was read again")
  }

  private func follow(changed configuration: Configuration) {
    do throws(SystemError) {
      try follow(configuration)
    } catch {
      Log.warning("\(error)")
    }
  }

  private static func log(_ event: Keyboards.Report) {
    switch event {
    case .followed(_, let device): Log.info("following '\(device.name)'")
    case .gone(_, let device): Log.info("'\(device.name)' is gone")
    case .released(_, let device): Log.info("not following '\(device.name)' any more")
    case .failed(let error): Log.warning("\(error)")
    case .unlit(_, let device, let error):
      Log.warning("'\(device.name)' shows no states on its LEDs: \(error)")
    }
  }

  private func listen(_ directory: String?) throws {
    let sockets = passed.takeSockets()
    for socket in sockets { try server.listen(on: socket) }
    guard sockets.isEmpty else { return }
    let directory = try directory ?? Daemon.defaultDirectory()
    let own = try OwnSockets(in: directory)
    for socket in own.sockets { try server.listen(on: socket) }
    ownSockets = own
    Log.info("serving in \(directory)")
  }

  private static func defaultDirectory() throws -> String {
    if geteuid() == 0 { return SocketDirectory.system }
    guard let runtime = environment("XDG_RUNTIME_DIR") else {
      throw UsageError("without XDG_RUNTIME_DIR, say where the sockets go with --socket-dir")
    }
    return SocketDirectory.user(runtimeDirectory: runtime)
  }
}

/// Keyboards as a source of inputs.
private final class KeyboardSource: InputSource {
  var keyboards: Keyboards?

  var now: Time { Time(microseconds: microsecondsSinceBoot()) }

  var devices: [DeviceMessage] {
    keyboards?.devices.map { device, isKeyboard in
      DeviceMessage(
        name: device.name, node: device.path, vendor: device.vendor, product: device.product,
        isKeyboard: isKeyboard)
    } ?? []
  }

  /// How many devices are followed.
  var count: Int { keyboards?.count ?? 0 }

  /// How far the kernel may be behind with handing over a key that it has stamped already: far more
  /// than it takes, and far less than anybody notices.
  let lateness: Int64 = 1000

  func catchUp() -> Time { keyboards?.readAll() ?? now }

  func realTime(reaching time: Time) -> Int64 {
    let (sum, overflow) = time.microseconds.addingReportingOverflow(lateness)
    return overflow ? .max : sum
  }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] {
    keyboards?.keysUp(among: keys, on: device) ?? []
  }

  func light(_ lit: Lights, of used: Lights) { keyboards?.light(lit, of: used) }

  static func selection(
    _ source: Daemon.Source, _ configuration: Configuration
  ) -> Keyboards.Selection {
    if case .devices(let paths) = source { return .named(paths) }
    return .all(boundKeys: configuration.settings.bindings.keys, configuration.devices)
  }
}
