import CLinux
import Glibc

extension FileDescriptor {
  /// Makes a pipe. The caller must close both ends. A program that another thread starts meanwhile
  /// inherits neither end. The corresponding C function is `pipe2`.
  public static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    try retrying("make", "a pipe") { pipe2(&ends, O_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
