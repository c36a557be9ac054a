import CLinux
import Glibc
public import Terminal

/// Reports files that appear in a folder, which may itself be created later, removed and recreated.
///
/// The corresponding kernel interface is `inotify(7)`.
public final class FolderMonitor {
  /// An inotify watch on a folder; releasing it ends the watch.
  private final class Watch {
    private let handler: (String) -> Void
    private var source: OpaquePointer?

    init(
      _ loop: EventLoop, _ path: String, _ mask: Int32, handler: @escaping (String) -> Void
    ) throws(SystemError) {
      self.handler = handler
      // Unretained: `deinit` removes the source from the loop, so the object outlives every call.
      let result = sd_event_add_inotify(
        loop.handle, &source, path, UInt32(mask | IN_ONLYDIR),
        { _, event, context in
          guard let event, let context else { return 0 }
          // A strong reference while the handler runs, since it may release the watch.
          let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
          if let name = Watch.name(in: event) { watch.handler(name) }
          return 0
        }, Unmanaged.passUnretained(self).toOpaque())
      guard result >= 0 else { throw SystemError("watch", path, code: -result) }
    }

    deinit { sd_event_source_disable_unref(source) }

    /// The name of the file, which follows the event; C declares it as an array without a length.
    private static func name(in event: UnsafePointer<inotify_event>) -> String? {
      guard event.pointee.len > 0 else { return nil }
      let name = UnsafeRawPointer(event) + MemoryLayout<inotify_event>.size
      return String(cString: name.assumingMemoryBound(to: CChar.self))
    }
  }

  private let loop: EventLoop
  private let path: String
  private let name: String
  private let appeared: (String) -> Void
  // Their handlers have `self` unowned: this object owns both watches.
  private var parent: Watch?
  private var folder: Watch?

  /// Calls `appeared`, from the loop, with the path of each file that appears in the folder, or
  /// whose permissions change.
  ///
  /// Make the monitor before calling ``forEachPresent(_:)``, so that no file is missed in between.
  ///
  /// - Parameter path: the folder, which need not exist; its parent must.
  /// - Throws: if the parent, or the folder while it exists, cannot be watched.
  public init(
    _ loop: EventLoop, path: String, appeared: @escaping (String) -> Void
  ) throws(SystemError) {
    (self.loop, self.path, self.appeared) = (loop, path, appeared)
    let parts = path.split(separator: "/")
    name = parts.last.map(String.init) ?? ""
    let outer = "/" + parts.dropLast().joined(separator: "/")
    parent = try Watch(loop, outer, IN_CREATE | IN_MOVED_TO) { [unowned self] name in
      if name == self.name { begin() }
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

  /// Watches the folder, if it exists.
  private func watch() throws(SystemError) {
    folder = nil
    do throws(SystemError) {
      folder = try Watch(loop, path, IN_CREATE | IN_MOVED_TO | IN_ATTRIB) { [unowned self] name in
        appeared("\(path)/\(name)")
      }
    } catch {
      guard error.code == ENOENT else { throw error }
    }
  }

  /// Watches the folder as it is now, and reports all its files: some may have appeared before the
  /// watch began.
  private func begin() {
    // If there is no folder now, the parent's watch reports the next one.
    guard (try? watch()) != nil else { return }
    try? forEachPresent(appeared)
  }
}
