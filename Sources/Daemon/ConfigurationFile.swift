import Configuration

/// The configuration file with its drop-ins, and which configuration is in force.
///
/// A service starts even with a bad file: otherwise a typing error would lose the states at a
/// restart. It then uses the last good configuration, or the defaults if none was kept.
final class ConfigurationFile {
  /// Which configuration is in force.
  enum InForce: String {
    /// The file as it was last read.
    case current
    /// The last good one, because the file is bad.
    case lastGood
    /// The defaults, because the file is bad and no good one was kept.
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

  /// The layout of the kept bytes, which are the configuration as it is printed.
  static let keptLayout: UInt64 = 0x6b65_796d_6366_0001

  /// The largest configuration that is kept. What is printed may be larger than the files.
  private static let keptLimit = 4 * ConfigurationText.sizeLimit

  /// The size of the memory for the last good configuration. The kernel allocates only the pages
  /// that are written.
  static let keptSize = KeptBytes.size(for: keptLimit)

  private let path: String?
  private var lastGood: KeptBytes?
  private(set) var inForce = InForce.current

  /// How often the file was read again, refused reloads included.
  private(set) var reloads = 0

  /// - Parameters:
  ///   - path: the file; the system's if `nil`.
  ///   - lastGood: keeps the last good configuration of a service; `nil` for any other daemon.
  init(_ path: String?, keptIn lastGood: KeptBytes?) {
    self.path = path
    self.lastGood = lastGood
  }

  /// Reads the first configuration. Throws the errors of the file, unless this is a service.
  func start() throws(ConfigurationErrors) -> Configuration {
    do throws(ConfigurationErrors) {
      return try read()
    } catch {
      guard lastGood != nil else { throw error }
      log(error)
      let kept = lastGood?.read().flatMap { $0.isEmpty ? nil : $0 }
      let last = kept.flatMap { try? Configuration(parsing: $0, file: "") }
      inForce = last == nil ? .defaults : .lastGood
      if let warning = inForce.warning { Log.warning(warning) }
      return last ?? Configuration()
    }
  }

  /// Reads the file again; `nil` if it is bad and nothing changes.
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
    let configuration = try Configuration.load(path) { Log.warning("\($0)") }
    let printed = Array(configuration.yaml.utf8)
    // What is too large is not kept, and nothing older either.
    let kept = printed.count <= Self.keptLimit ? printed : []
    if lastGood?.read() != kept { lastGood?.write(kept) }
    return configuration
  }

  private func log(_ errors: ConfigurationErrors) {
    for line in errors.lines { Log.warning("\(line)") }
  }
}
