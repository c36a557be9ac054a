import Foundation

/// A folder that is there for as long as the value is. Its path is short, because socket paths have
/// to be.
public final class TemporaryFolder: Sendable {
  /// Its path.
  public let path: String

  /// A new, empty one.
  public init() throws {
    path = "/tmp/keymoded-\(UUID().uuidString.prefix(12))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file in it.
  ///
  /// - Returns: the file's path.
  public func write(_ name: String, _ text: String) throws -> String {
    try write(name, Array(text.utf8))
  }

  /// Writes a file in it.
  ///
  /// - Returns: the file's path.
  public func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = "\(path)/\(name)"
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }
}
