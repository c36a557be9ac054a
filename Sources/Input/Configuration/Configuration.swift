import Glibc
public import KeyboardModes
public import Keyboards
import System
public import Terminal

/// The configuration of the daemon. An example of its file:
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

  /// The rules that decide which LEDs show which states.
  public var leds = LEDRules()

  /// The path of the service's configuration file.
  public static let systemPath = "/etc/keymoded/keymoded.yaml"

  /// The default settings, which apply if there is no file.
  public init() {}

  /// Reads the file at `path` and its drop-ins; see ``ConfigurationText/withDropIns(at:mayWait:)``.
  /// Throws the reason if a file cannot be read, otherwise the errors in the files.
  ///
  /// - Parameter warn: receives the warnings about valid files; see ``init(merging:warn:)``.
  public static func load(
    _ path: String?, mayWait: Bool = false, warn: (TerminalText) -> Void = { _ in }
  ) throws(ConfigurationErrors) -> Configuration {
    try Self(merging: try ConfigurationText.withDropIns(at: path, mayWait: mayWait), warn: warn)
  }

  /// Parses the text of one file, and throws its errors. The errors call the file `file`.
  public init(
    parsing bytes: [UInt8], file: String, warn: (TerminalText) -> Void = { _ in }
  ) throws(ConfigurationErrors) {
    try self.init(merging: [ConfigurationText(name: file, bytes: bytes)], warn: warn)
  }

  /// Merges files, and throws the errors in them.
  ///
  /// - Parameter warn: receives warnings about valid settings that the user probably did not mean,
  ///   a line each: at most ``ConfigurationErrors/maxErrors``, and none if there are errors.
  public init(
    merging files: [ConfigurationText], warn: (TerminalText) -> Void = { _ in }
  ) throws(ConfigurationErrors) {
    self = try Self.read(files, warn: warn).configuration
  }

  /// The configuration in these files, and the root of the merged YAML. `root` is `nil` if all
  /// files are empty.
  static func read(
    _ files: [ConfigurationText], warn: (TerminalText) -> Void = { _ in }
  ) throws(ConfigurationErrors) -> (configuration: Configuration, root: Node?) {
    var reader = ConfigurationReader()
    var roots: [Node] = []
    for (number, file) in files.enumerated() {
      do throws(YAMLError) {
        if let root = try Node.document(parsing: file.bytes, file: number) { roots.append(root) }
      } catch {
        reader.fail(error.message, at: error.mark)
      }
    }
    let root = Node.merged(roots)
    // Reads nothing if a file is not YAML: the names that this file adds would be reported as
    // unknown in other files.
    if let root, reader.faults.isEmpty { reader.read(root) }
    guard reader.faults.isEmpty else { throw ConfigurationErrors(files, reader.faults) }
    for warning in reader.warnings.sortedPrefix(ConfigurationErrors.maxErrors) {
      let mark = warning.mark
      let file = files[mark.file].name
      warn("\(file):\(mark.line):\(mark.column): warning: \(warning.message())")
    }
    return (reader.configuration, root)
  }
}
