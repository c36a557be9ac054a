import Glibc
import System
import Terminal

/// A file of a configuration.
public struct ConfigurationText: Hashable, Sendable {
  /// The name of the file in messages.
  public let name: String
  /// The text of the file, without a byte order mark.
  public let bytes: [UInt8]

  /// The maximum size of a configuration, in bytes: the sum over all its files.
  public static let sizeLimit = 1 << 20

  /// The maximum number of drop-ins of a file.
  public static let maxDropIns = 100

  /// The file with this name and text; drops the byte order mark of Windows.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = Array(bytes.dropFirst(bytes.starts(with: "\u{feff}".utf8) ? 3 : 0))
  }

  /// The file at `path`, and its drop-ins: the files `*.yaml` in the folder `PATH.d`, in the order
  /// of their names.
  ///
  /// If `path` is `nil`, reads ``Configuration/systemPath``, which may be missing. A file that the
  /// user named may be missing only if it has drop-ins.
  /// Throws if a file cannot be read, if there are more drop-ins than ``maxDropIns``, or if all
  /// files together are larger than ``sizeLimit``.
  ///
  /// - Parameter mayWait: whether `path` may be a file for which the call has to wait, such as a
  ///   pipe.
  public static func withDropIns(
    at path: String?, mayWait: Bool = false
  ) throws(ConfigurationErrors) -> [ConfigurationText] {
    let main = path ?? Configuration.systemPath
    var files: [ConfigurationText] = []
    let dropIns = try dropIns(of: main)
    // A missing file means the defaults; a file that cannot be read is an error.
    if !isMissing(main) || path != nil && dropIns.isEmpty {
      files.append(try read(main, mayWait: mayWait))
    }
    var room = sizeLimit - (files.first?.bytes.count ?? 0)
    for dropIn in dropIns {
      let file = try read(dropIn, mayWait: false)
      room -= file.bytes.count
      guard room >= 0 else {
        throw ConfigurationErrors(
          file: dropIn, "with this file, the configuration is larger than 1 MiB, the limit")
      }
      files.append(file)
    }
    return files
  }

  /// The paths of the drop-ins of a file, in the byte order of their names.
  private static func dropIns(of main: String) throws(ConfigurationErrors) -> [String] {
    let folder = "\(main).d"
    let names: [String]
    do throws(SystemError) {
      names = try System.names(inFolder: folder)
    } catch {
      if error.code == ENOENT { return [] }
      throw ConfigurationErrors(file: folder, error.reason)
    }
    let dropIns = names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    guard dropIns.count <= maxDropIns else {
      throw ConfigurationErrors(
        file: folder, "\(dropIns.count) files; at most \(maxDropIns) are read")
    }
    return dropIns.map { "\(folder)/\($0)" }
  }

  private static func isMissing(_ file: String) -> Bool {
    access(file, F_OK) != 0 && [ENOENT, ENOTDIR].contains(errno)
  }

  private static func read(
    _ file: String, mayWait: Bool
  ) throws(ConfigurationErrors) -> ConfigurationText {
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try contents(of: file, limit: sizeLimit, mayWait: mayWait)
    } catch {
      throw ConfigurationErrors(
        file: file,
        error.code == ENOTSUP
          ? "not a regular file; write the configuration into a file and name that one"
          : error.reason)
    }
    guard let bytes else {
      throw ConfigurationErrors(file: file, "larger than 1 MiB, the limit for a configuration")
    }
    return ConfigurationText(name: file, bytes: bytes)
  }
}
