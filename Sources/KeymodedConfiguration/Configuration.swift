public import KeyboardModes
internal import SystemCalls
internal import YAML

/// The configuration of the daemon, as its file has it.
///
///     shift:    { threshold: 500ms, trigger: press, tap_timeout: 200ms }
///     keyboard:
///       bindings:
///         clickSwitchButton: [KEY_SCROLLLOCK, KEY_LEFTMETA+KEY_V]
public struct Configuration: Hashable, Sendable {
  /// What decides the states.
  public var settings = Settings()

  /// Where the service looks for its file.
  public static let systemPath = "/etc/keymoded/keymoded.yaml"

  /// The largest file that is read.
  public static let sizeLimit = 1 << 20

  /// What is in force without a file.
  public init() {}

  /// Reads the file at `path`.
  ///
  /// - Throws: everything that is wrong with it.
  public init(path: String) throws(ConfigurationErrors) {
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try contents(of: path, limit: Configuration.sizeLimit)
    } catch {
      throw ConfigurationErrors(file: path, error.reason)
    }
    guard let bytes else { throw ConfigurationErrors(file: path, "larger than 1 MiB") }
    try self.init(parsing: bytes, file: path)
  }

  /// Reads the text of a file.
  ///
  /// - Parameter file: the name for errors.
  /// - Throws: everything that is wrong with it.
  public init(parsing bytes: [UInt8], file: String) throws(ConfigurationErrors) {
    let root: Node?
    do {
      root = try Node.document(parsing: bytes)
    } catch {
      throw ConfigurationErrors(errors: [
        ConfigurationError(file: file, mark: error.mark, message: error.message)
      ])
    }
    var reader = ConfigurationReader(file: file)
    if let root { reader.read(root) }
    guard reader.errors.isEmpty else {
      throw ConfigurationErrors(
        errors: reader.errors.sorted { lhs, rhs in
          guard let left = lhs.mark, let right = rhs.mark else { return lhs.mark == nil }
          return left < right
        })
    }
    self = reader.configuration
  }
}

extension ConfigurationErrors {
  fileprivate init(file: String, _ message: String) {
    self.init(errors: [ConfigurationError(file: file, mark: nil, message: message)])
  }
}
