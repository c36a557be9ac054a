import Glibc
public import KeyboardModes
public import Keyboards
import Linux
public import Terminal

/// The configuration of the daemon, as read from its file.
///
///     shift:    { threshold: 500ms, timeout: off, trigger: press, tap_timeout: 200ms,
///                 used_by: characters }
///     debounce: off
///     keyboard:
///       bindings:
///         clickSwitchButton: [Scroll_Lock, Super+V]
///     devices:  { ignore: ["*Yubi*", "046d:c52b"], pointers: yes }
///     leds:     { capsLock: LED_CAPSL }
public struct Configuration: Hashable, Sendable {
  /// The settings that decide the states.
  public var settings = Settings()

  /// The rules that decide which devices are followed.
  public var devices = DeviceRules()

  /// Which LEDs of the devices show which states.
  public var leds = LEDRules()

  /// Where the service looks for its file.
  public static let systemPath = "/etc/keymoded/keymoded.yaml"

  /// The largest file that is read, in bytes.
  public static let sizeLimit = 1 << 20

  /// The defaults, which are in force without a file.
  public init() {}

  /// Reads the file at `path`. If `path` is `nil`, reads the file at ``systemPath``; without that
  /// file, the defaults apply. Throws why the file cannot be read, or the errors in it.
  ///
  /// - Parameters:
  ///   - mayWait: whether to read a pipe, and wait for its writer.
  ///   - warn: receives the warnings about a valid file; see ``init(parsing:file:warn:)``.
  public static func load(
    _ path: String?, mayWait: Bool = false, warn: (TerminalText) -> Void = { _ in }
  ) throws(ConfigurationErrors) -> Configuration {
    let text = try text(of: path, mayWait: mayWait) ?? []
    return try Configuration(parsing: text, file: path ?? systemPath, warn: warn)
  }

  /// The text of the file at `path`. If `path` is `nil`, the text of the file at ``systemPath``;
  /// `nil` if that file does not exist. Throws why the file cannot be read, that it is no regular
  /// file unless the caller `mayWait`, or that it is larger than ``sizeLimit``.
  public static func text(
    of path: String?, mayWait: Bool = false
  ) throws(ConfigurationErrors) -> [UInt8]? {
    let file = path ?? systemPath
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try contents(of: file, limit: sizeLimit, mayWait: mayWait)
    } catch {
      // Only a missing file means the defaults, not one that cannot be read.
      if path == nil, [ENOENT, ENOTDIR].contains(error.code) { return nil }
      let isOther = error.code == ENOTSUP
      throw ConfigurationErrors(
        file: file,
        isOther
          ? "not a regular file; write the configuration into a file and name that one"
          : error.reason)
    }
    guard let bytes else {
      throw ConfigurationErrors(file: file, "larger than 1 MiB, the limit for a configuration")
    }
    return bytes
  }

  /// Parses the text of a file, and throws the errors in it, which have the name `file`.
  ///
  /// - Parameter warn: receives a line for each warning, with the same name, unless there are
  ///   errors: for settings that are valid, but probably not what the user meant.
  public init(
    parsing bytes: [UInt8], file: String, warn: (TerminalText) -> Void = { _ in }
  ) throws(ConfigurationErrors) {
    let root: Node?
    do {
      root = try Node.document(parsing: bytes)
    } catch {
      throw ConfigurationErrors(file: file, at: error.mark, error.message)
    }
    var reader = ConfigurationReader()
    if let root { reader.read(root) }
    guard reader.faults.isEmpty else { throw ConfigurationErrors(file: file, reader.faults) }
    self = reader.configuration
    for warning in reader.warnings.first(ConfigurationErrors.limit) {
      let mark = warning.mark
      warn("\(file):\(mark.line):\(mark.column): warning: \(warning.message())")
    }
  }
}
