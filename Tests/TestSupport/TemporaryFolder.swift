import Foundation

/// A folder in /tmp that `deinit` removes. Its path is short enough for sockets in it.
public final class TemporaryFolder: Sendable {
  /// Its path.
  public let path: String

  /// Creates an empty folder.
  ///
  /// - Throws: an error of Foundation.
  public init() throws {
    path = "/tmp/keymoded-\(UUID().uuidString.prefix(12))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file in the folder.
  ///
  /// - Returns: the file's path.
  /// - Throws: an error of Foundation.
  public func write(_ name: String, _ text: String) throws -> String {
    try write(name, Array(text.utf8))
  }

  /// Writes a file in the folder.
  ///
  /// - Returns: the file's path.
  /// - Throws: an error of Foundation.
  public func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = "\(path)/\(name)"
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }
}
