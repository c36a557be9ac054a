import Configuration
import Glibc
import KeyboardModes
import Recordings
import System
import Terminal
import Wire

/// The daemon: the parts, and the event loop that calls them.
public final class Daemon {
  /// What the daemon reads key events from.
  public enum InputSelection: Hashable, Sendable {
    /// All keyboards of the machine.
    case allKeyboards
    /// The devices at these paths.
    case devices([String])
    /// A recording instead of devices.
    case recording(String, PlaybackSpeed)
  }

  private let loop: EventLoop
  private let service: ModeService
  private let server: Server
  private let passed: PassedDescriptors
  private let file: ConfigurationFile
  private let status: ServiceStatus
  private var ownSockets: OwnSockets?
  private var signals: [EventSource] = []

  /// Makes the parts, takes the descriptors that the service manager passed, reads the
  /// configuration, and checks a recording. Opens no socket and no device.
  ///
  /// - Parameter configurationFile: read now, and again on SIGHUP; the system's file if `nil`.
  /// - Throws: `ConfigurationErrors`, `RecordingError`, or `SystemError` of a call of systemd.
  public init(configurationFile: String?, _ selection: InputSelection) throws {
    loop = try EventLoop()
    passed = try PassedDescriptors()
    status = ServiceStatus()
    let configuration: Configuration
    let store: StateStore?
    let input: any InputSource
    switch selection {
    case .allKeyboards, .devices:
      // Takes the states first: they matter more if the unit may store only one file.
      store = passed.takeStates()
      let storeConfiguration =
        ServiceManager.isPresent ? PassedDescriptors.storeConfiguration : nil
      file = ConfigurationFile(configurationFile, store: storeConfiguration)
      configuration = try file.start(lastGood: passed.takeConfiguration())
      let paths: [String]? = if case .devices(let paths) = selection { paths } else { nil }
      input = KeyboardSource(paths, configuration, status)
    case .recording(let recording, let speed):
      store = nil
      file = ConfigurationFile(configurationFile)
      configuration = try file.start()
      input = try RecordingPlayer(file: recording, speed: speed)
    }
    let engine = Engine(settings: configuration.settings, store: store, at: input.now)
    service = ModeService(source: input, engine)
    // Sets the LEDs before any keyboard is followed, so that each shows the states at once.
    service.show(configuration.leds)
    server = try Server(loop, CallHandler(service, file), service.publisher)
  }

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Parameter directory: where to make the sockets, if the service manager passed none.
  /// - Throws: if the sockets cannot be made, or devices cannot be watched.
  public func run(socketDirectory directory: String?) throws {
    signal(SIGPIPE, SIG_IGN)
    // Unowned: the daemon owns the signals' sources, and outlives every call.
    signals = try loop.addSignals([SIGTERM, SIGINT, SIGHUP]) { [unowned self] number in
      if number == SIGHUP { reload() } else { loop.stop() }
    }
    // Signals come before all clients.
    for signal in signals { signal.setPriority(.first) }
    try listen(directory)
    try service.start(on: loop)
    try loop.reportToWatchdog()
    status.warning = file.warning
    ServiceManager.notify("READY=1")
    releaseMemory()
    try loop.run()
    ServiceManager.notify("STOPPING=1")
    // Gives the LEDs back: otherwise they would go on showing old states.
    service.show(LEDRules())
  }

  /// Reads and applies the configuration again. Refuses a bad configuration; the old one stays.
  private func reload() {
    ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds())")
    if let configuration = file.reload() {
      do throws(SystemError) {
        try service.apply(configuration)
      } catch {
        Log.warning("\(error)")
      }
      Log.info("the configuration was read again")
    } else {
      Log.warning("keeping the present configuration")
    }
    status.warning = file.warning
    // Parsing takes several times the size of the file in memory.
    releaseMemory()
    ServiceManager.notify("READY=1")
  }

  private func listen(_ directory: String?) throws {
    let sockets = passed.takeSockets()
    for socket in sockets { try server.listen(on: socket) }
    guard sockets.isEmpty else { return }
    let directory = try directory ?? Daemon.defaultDirectory()
    let own = try OwnSockets(in: directory)
    for socket in own.sockets { try server.listen(on: socket) }
    ownSockets = consume own
    Log.info("serving in \(directory)")
    let systemSocket = "\(SocketDirectory.system)/\(SocketDirectory.stateSocket)"
    if directory == (try? Daemon.userDirectory()), access(systemSocket, F_OK) == 0 {
      Log.info("clients that this user starts now connect to this keymoded, not to the service")
    }
  }

  private static func defaultDirectory() throws -> String {
    geteuid() == 0 ? SocketDirectory.system : try userDirectory()
  }

  private static func userDirectory() throws -> String {
    guard let runtime = environment("XDG_RUNTIME_DIR") else {
      throw UsageError("XDG_RUNTIME_DIR is not set; name a directory with --socket-dir")
    }
    return SocketDirectory.user(runtimeDirectory: runtime)
  }
}
