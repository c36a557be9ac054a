internal import Glibc
public import KeyboardModes
public import LinuxInput
internal import SystemCalls
internal import YAML

/// The configuration of the daemon, as its file has it.
///
///     shift:    { threshold: 500ms, timeout: off, trigger: press, tap_timeout: 200ms }
///     debounce: off
///     keyboard:
///       bindings:
///         clickSwitchButton: [KEY_SCROLLLOCK, KEY_LEFTMETA+KEY_V]
///     devices:  { ignore: ["*Yubi*", "046d:c52b"] }
///     leds:     { capsLock: LED_CAPSL }
public struct Configuration: Hashable, Sendable {
  /// What decides the states.
  public var settings = Settings()

  /// What decides which devices are followed.
  public var devices = DeviceRules()

  /// Which of their lights tell of which states.
  public var lights = LightRules()

  /// Where the service looks for its file.
  public static let systemPath = "/etc/keymoded/keymoded.yaml"

  /// The largest file that is read, in bytes.
  public static let sizeLimit = 1 << 20

  /// What is in force without a file.
  public init() {}

  /// Reads the file at `path`; or, where none is given, that of the system if there is one.
  ///
  /// - Throws: everything that is wrong with it.
  public static func load(_ path: String?) throws(ConfigurationErrors) -> Configuration {
    try Configuration(parsing: text(of: path), file: path ?? systemPath)
  }

  /// The text of the file at `path`; or, where none is given, of that of the system, which is empty if
  /// there is none.
  ///
  /// - Throws: why it cannot be read, or that it is larger than ``sizeLimit``.
  public static func text(of path: String?) throws(ConfigurationErrors) -> [UInt8] {
    let file = path ?? systemPath
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try contents(of: file, limit: sizeLimit)
    } catch {
      // A file that cannot be read is not the same as none.
      if path == nil, [ENOENT, ENOTDIR].contains(error.code) { return [] }
      throw ConfigurationErrors(file: file, error.reason)
    }
    guard let bytes else {
      throw ConfigurationErrors(file: file, "larger than 1 MiB, the limit for a configuration")
    }
    return bytes
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
      throw ConfigurationErrors(file: file, at: error.mark, error.message)
    }
    var reader = ConfigurationReader()
    if let root { reader.read(root) }
    guard reader.faults.count == 0 else {
      throw ConfigurationErrors(file: file, reader.faults)
    }
    self = reader.configuration
  }
}
