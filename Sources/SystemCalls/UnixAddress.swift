public import Glibc

extension sockaddr_un {
  /// Makes this the address of a socket in the file system.
  ///
  /// - Returns: whether `path` fits; the kernel takes up to 107 bytes.
  public mutating func set(path: String) -> Bool {
    sun_family = sa_family_t(AF_UNIX)
    return withUnsafeMutableBytes(of: &sun_path) { bytes in
      guard path.utf8.count < bytes.count else { return false }
      bytes.copyBytes(from: path.utf8)
      bytes[path.utf8.count] = 0
      return true
    }
  }
}
