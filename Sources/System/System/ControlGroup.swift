import Glibc

/// A control group. Processes that its members start are members too, even in another session.
///
/// See `cgroups(7)`, version 2; needs Linux 5.14.
public final class ControlGroup {
  private let path: String
  private let folder: FileDescriptor
  private let eventsFile: FileDescriptor
  /// `init` opens this file, so that ``kill()`` works even if no more files can be opened later.
  private let killFile: FileDescriptor

  var folderDescriptor: Int32 { folder.number }

  /// The descriptor to wait on for `EPOLLPRI`: it is ready from each change of ``isPopulated``
  /// until that property is read.
  public var changes: Int32 { eventsFile.number }

  /// Makes a group with this path. Releasing this object removes the group and its inner groups,
  /// unless a process is in them.
  ///
  /// - Throws: `ENOENT` if the outer group is gone, `EACCES` if it is not writable.
  public init(at path: String) throws(SystemError) {
    try retrying("make", path) { mkdir(path, 0o755) }
    self.path = path
    do throws(SystemError) {
      folder = try FileDescriptor.opening(path, flags: O_RDONLY | O_DIRECTORY)
      eventsFile = try FileDescriptor.opening("\(path)/cgroup.events")
      killFile = try FileDescriptor.opening("\(path)/cgroup.kill", flags: O_WRONLY)
    } catch {
      rmdir(path)
      throw error
    }
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    guard rmdir(path) < 0, errno == EBUSY else { return }
    for name in (try? names(inFolder: path)) ?? [] { remove("\(path)/\(name)") }
    rmdir(path)
  }

  /// Whether a process that has not ended is in the group, or in a group inside it.
  public var isPopulated: Bool {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = pread(eventsFile.number, &buffer, buffer.count, 0)
    // Reading fails once the group is removed, and then no process is in it.
    guard count > 0 else { return false }
    let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
    return lines.contains("populated 1")
  }

  /// The processes of this PID namespace that are in the group, or in a group inside it.
  public var members: [Int32] { Self.members(path) }

  private static func members(_ path: String) -> [Int32] {
    // `inner` also has the names of files: these have no members, so they add nothing.
    let inner = (try? names(inFolder: path)) ?? []
    return processes(path).filter { $0 > 0 } + inner.flatMap { members("\(path)/\($0)") }
  }

  /// The processes in the group with this path. 0 stands for a process outside this PID namespace.
  public static func processes(_ path: String) -> [Int32] {
    let listed = (try? contents(of: "\(path)/cgroup.procs", limit: 1 << 24)).flatMap { $0 } ?? []
    return listed.split(separator: UInt8(ascii: "\n"))
      .compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
  }

  /// Kills all processes in the group, even those that are just starting. Start no process in it
  /// afterwards: Linux 6.14, and older versions with the same change, may kill that process too.
  public func kill() { _ = write(killFile.number, "1", 1) }

  /// The path of a group's folder. `place` is the group's path in the tree, such as `/user.slice`.
  ///
  /// - Throws: `ENOENT` if the group is gone, or control groups of version 2 are not mounted.
  public static func path(of place: String) throws(SystemError) -> String {
    // If groups of version 1 are mounted too, groups of version 2 have a folder of their own.
    for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
    where access("\(root)\(place)/cgroup.procs", F_OK) == 0 {
      return "\(root)\(place)"
    }
    throw SystemError("find", "control groups of version 2", code: ENOENT)
  }
}
