import KeymodedConfiguration

/// The configuration that is in force, and where it is from.
///
/// A service starts with a bad file too, or a typing error would cost the states at the next restart: it
/// goes on with the last good configuration, or with the defaults where none was kept.
final class ConfigurationFile {
  /// Which configuration is in force.
  enum InForce: String {
    /// What the file had when it was last read.
    case current
    /// That which was in force before the file was bad.
    case lastGood
    /// The defaults, since the file is bad and nothing else was kept.
    case defaults

    /// What there is to say of it, besides the errors of the file; `nil` where the file is good.
    var warning: String? {
      switch self {
      case .current: nil
      case .lastGood: "the configuration is bad; the last good one is in force"
      case .defaults: "the configuration is bad; the defaults are in force"
      }
    }
  }

  private let path: String?
  private let store: ConfigurationStore?
  private(set) var inForce = InForce.current

  /// How often the file was read again, refused reloads included.
  private(set) var reloads = 0

  /// - Parameters:
  ///   - path: the file; that of the system where it is `nil`.
  ///   - store: what the last good configuration is kept in, by a service.
  init(_ path: String?, keptIn store: ConfigurationStore?) {
    self.path = path
    self.store = store
  }

  /// What to start with.
  ///
  /// - Throws: what is wrong with the file, unless this is a service.
  func start() throws(ConfigurationErrors) -> Configuration {
    do throws(ConfigurationErrors) {
      return try read()
    } catch {
      guard store != nil else { throw error }
      log(error)
      let last = store?.read().flatMap { try? Configuration(parsing: $0, file: "") }
      inForce = last == nil ? .defaults : .lastGood
      if let warning = inForce.warning { Log.warning(warning) }
      return last ?? Configuration()
    }
  }

  /// What the file has now; `nil` where it is bad, so that everything stays as it was.
  func reload() -> Configuration? {
    reloads += 1
    do throws(ConfigurationErrors) {
      let configuration = try read()
      inForce = .current
      return configuration
    } catch {
      log(error)
      if inForce == .current { inForce = .lastGood }
      return nil
    }
  }

  private func read() throws(ConfigurationErrors) -> Configuration {
    let text = try Configuration.text(of: path)
    let configuration = try Configuration(parsing: text, file: path ?? Configuration.systemPath)
    store?.keep(text)
    return configuration
  }

  private func log(_ errors: ConfigurationErrors) {
    for line in errors.lines { Log.warning("\(line)") }
  }
}
