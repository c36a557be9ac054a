import CLinux
import Glibc

/// Reports that files appeared in a folder, which may itself be created, removed and recreated.
///
/// The corresponding kernel interface is `inotify(7)`.
public final class FolderMonitor {
  /// An inotify watch on a folder; releasing it ends the watch.
  private final class Watch {
    private let changed: () -> Void
    private var source: OpaquePointer?

    init(
      _ loop: EventLoop, _ path: String, _ mask: Int32, changed: @escaping () -> Void
    ) throws(SystemError) {
      self.changed = changed
      // Unretained: `deinit` removes the source from the loop, so the object outlives every call.
      let result = sd_event_add_inotify(
        loop.handle, &source, path, UInt32(mask | IN_ONLYDIR),
        { _, _, context in
          guard let context else { return 0 }
          Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue().changed()
          return 0
        }, Unmanaged.passUnretained(self).toOpaque())
      guard result >= 0 else { throw SystemError("watch", path, code: -result) }
    }

    deinit { sd_event_source_disable_unref(source) }
  }

  private let loop: EventLoop
  private let path: String
  private let changed: () -> Void
  private var parent: Watch?
  private var folder: Watch?

  /// Calls `changed`, from the loop, when files appear in the folder or their permissions change.
  /// Other events, such as a new file in the parent, cause calls too.
  ///
  /// Make the monitor before calling ``forEachPresent(_:)``, so that no file is missed in between.
  ///
  /// - Parameter path: the folder, which need not exist; its parent must.
  /// - Throws: if the parent, or the folder while it exists, cannot be watched.
  public init(
    _ loop: EventLoop, path: String, changed: @escaping () -> Void
  ) throws(SystemError) {
    (self.loop, self.path, self.changed) = (loop, path, changed)
    let outer = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    // Unowned: this object owns the watch.
    parent = try Watch(loop, outer, IN_CREATE | IN_MOVED_TO) { [unowned self] in
      // If the folder cannot be watched, the next event of its parent tries again.
      try? watch()
      self.changed()
    }
    try watch()
  }

  /// Calls `body` with the path of each file that is in the folder now, `event2` before `event10`.
  /// Throws if the folder exists but cannot be listed.
  public func forEachPresent(_ body: (String) -> Void) throws(SystemError) {
    do throws(SystemError) {
      let names = try names(inFolder: path)
      for name in names.sorted(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }) {
        body("\(path)/\(name)")
      }
    } catch {
      guard error.code == ENOENT else { throw error }
    }
  }

  /// Watches the folder that is at the path now, if there is one.
  private func watch() throws(SystemError) {
    folder = nil
    do throws(SystemError) {
      folder = try Watch(loop, path, IN_CREATE | IN_MOVED_TO | IN_ATTRIB, changed: changed)
    } catch {
      guard error.code == ENOENT else { throw error }
    }
  }
}
