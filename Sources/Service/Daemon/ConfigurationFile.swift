import Configuration

/// The configuration file with its drop-ins, and which configuration is in force.
///
/// A service starts even if the file is bad: a restart after a typing error must not lose the
/// states. The service then uses the last good configuration, or the defaults if none was stored.
final class ConfigurationFile {
  /// Where the configuration in force comes from.
  enum Origin: String {
    /// The file as it was last read.
    case current
    /// The last good configuration, because the file is bad.
    case lastGood
    /// The defaults, because the file is bad and no good configuration was stored.
    case defaults

    /// A warning besides the errors of the file; `nil` if the file is good.
    var warning: String? {
      switch self {
      case .current: nil
      case .lastGood: "the configuration is invalid; the last good one applies"
      case .defaults: "the configuration is invalid; the defaults apply"
      }
    }
  }

  private let path: String?
  private let store: (([UInt8]) -> Void)?
  private(set) var origin = Origin.current
  /// Where the first error is, if the last reload was refused; otherwise `nil`.
  private var errorLocation: String?

  /// A warning for the status of the service; `nil` if all is well.
  var warning: String? {
    errorLocation.map { "the last reload was refused: error at \($0)" } ?? origin.warning
  }

  /// How often the file was read again, refused reloads included.
  private(set) var reloads = 0

  /// - Parameters:
  ///   - path: the file; the system's if `nil`.
  ///   - store: stores each good configuration, in YAML, for the next daemon; `nil` if this is no
  ///     service.
  init(_ path: String?, store: (([UInt8]) -> Void)? = nil) {
    self.path = path
    self.store = store
  }

  /// Reads the first configuration. Throws the errors of the file, unless this is a service.
  ///
  /// - Parameter lastGood: the configuration that the previous daemon stored, in YAML.
  func start(lastGood: [UInt8]? = nil) throws(ConfigurationErrors) -> Configuration {
    do throws(ConfigurationErrors) {
      return try read()
    } catch {
      guard store != nil else { throw error }
      log(error)
      let last = lastGood.flatMap { try? Configuration(parsing: $0, file: "") }
      origin = last == nil ? .defaults : .lastGood
      if let warning = origin.warning { Log.warning(warning) }
      return last ?? Configuration()
    }
  }

  /// Reads the file again. If it is bad, returns `nil`, and the configuration in force stays.
  func reload() -> Configuration? {
    reloads += 1
    do throws(ConfigurationErrors) {
      let configuration = try read()
      (origin, errorLocation) = (.current, nil)
      return configuration
    } catch {
      log(error)
      if origin == .current { origin = .lastGood }
      errorLocation = error.errors.first.map { error in
        error.file + (error.mark.map { ":\($0.line):\($0.column)" } ?? "")
      }
      return nil
    }
  }

  private func read() throws(ConfigurationErrors) -> Configuration {
    let configuration = try Configuration.load(path) { Log.warning("\($0)") }
    store?(Array(configuration.yaml.utf8))
    return configuration
  }

  private func log(_ errors: ConfigurationErrors) {
    for line in errors.lines { Log.warning("\(line)") }
  }
}
