import CLinux
import Glibc

/// The permissions of a file: the mode, and one more user if the file has an ACL.
///
/// See `acl(5)`. The bytes are the kernel's attribute `system.posix_acl_access`: a version, then
/// entries of a tag, permissions and an ID, in the order of the tags. Numbers are little-endian.
public struct FileACL: Hashable, Sendable {
  /// The tags of `linux/posix_acl.h`.
  private enum Tag: UInt16 {
    case owner = 1
    case user = 2
    case group = 4
    case mask = 16
    case other = 32
  }

  private static let attribute = "system.posix_acl_access"
  private static let version: UInt32 = 2
  private static let readAndWrite: UInt16 = 6

  /// What the owner, the group and others may do: 4 to read, 2 to write, 1 to execute.
  private var owner, group, other: UInt16

  /// The ID of the user who may also read and write; `nil` for none.
  public var user: UInt32?

  /// The permissions of a mode, without a further user.
  public init(mode: UInt32) {
    (owner, group, other) = (UInt16(mode >> 6 & 7), UInt16(mode >> 3 & 7), UInt16(mode & 7))
  }

  /// Reads an ACL; `nil` if the bytes are not one. Keeps only the last of several users.
  public init?(_ bytes: [UInt8]) {
    func number<Integer: FixedWidthInteger>(at index: Int) -> Integer {
      bytes[index..<index + Integer.bitWidth / 8].reversed().reduce(0) { $0 << 8 | Integer($1) }
    }
    guard bytes.count >= 4, bytes.count % 8 == 4, number(at: 0) == Self.version else { return nil }
    self.init(mode: 0)
    for index in stride(from: 4, to: bytes.count, by: 8) {
      let permissions: UInt16 = number(at: index + 2)
      switch Tag(rawValue: number(at: index)) {
      case .owner: owner = permissions
      case .user: user = number(at: index + 4)
      case .group: group = permissions
      case .other: other = permissions
      // ``bytes`` computes the mask.
      case .mask, nil: break
      }
    }
  }

  /// The ACL as the kernel takes it. Without a user, the kernel sets only the mode.
  public var bytes: [UInt8] {
    var entries: [(Tag, UInt16, UInt32)] = [(.owner, owner, .max)]
    if let user { entries.append((.user, Self.readAndWrite, user)) }
    entries.append((.group, group, .max))
    // The mask limits what the user and the group may do.
    if user != nil { entries.append((.mask, group | Self.readAndWrite, .max)) }
    entries.append((.other, other, .max))
    func bytes(of number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.littleEndian, Array.init)
    }
    return bytes(of: Self.version)
      + entries.flatMap { bytes(of: $0.rawValue) + bytes(of: $1) + bytes(of: $2) }
  }

  /// The permissions of the file at `path`. The C functions are `getxattr` and `stat`.
  public init(of path: String) throws(SystemError) {
    // The kernel keeps at most this many bytes.
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = getxattr(path, Self.attribute, &bytes, bytes.count)
    if count >= 0, let acl = FileACL(Array(bytes.prefix(count))) {
      self = acl
    } else {
      var status = stat()
      try retrying("look at", path) { stat(path, &status) }
      self.init(mode: status.st_mode)
    }
  }

  /// Gives the file at `path` these permissions. The corresponding C function is `setxattr`.
  public func set(on path: String) throws(SystemError) {
    let bytes = bytes
    try retrying("set the permissions of", path) {
      setxattr(path, Self.attribute, bytes, bytes.count, 0)
    }
  }
}
