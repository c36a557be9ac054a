internal import Glibc
internal import SystemCalls
internal import Systemd

/// Finds evdev nodes: through udev, or, where none runs, by looking into the folder of the nodes.
final class DeviceFinder {
  /// An evdev node that is there.
  struct Node {
    /// Its path, such as `/dev/input/event3`.
    let path: String
    /// What udev says of it; `nil` where none runs, and only the device itself can tell.
    let kind: DeviceKind?
    /// Whether udev's rules say that it is to be left alone.
    let isIgnored: Bool

    fileprivate init(_ device: UdevDevice) {
      path = device.node
      kind = DeviceKind(device)
      isIgnored = device.property("KEYMODED_IGNORE") == "1"
    }

    fileprivate init?(path: String) {
      guard path.split(separator: "/").last?.hasPrefix("event") == true else { return nil }
      self.path = path
      kind = nil
      isIgnored = false
    }
  }

  /// Where nodes are, and what is there while udev runs.
  struct Places {
    var nodes = "/dev/input"
    var udev = "/run/udev/control"
  }

  private enum Means {
    case udev(DeviceMonitor)
    case folder(FolderMonitor)
  }

  private let means: Means

  /// Calls `appeared`, from the loop, for each evdev node that comes or changes: permissions may be
  /// given late.
  ///
  /// Make the finder before calling ``forEachPresent(_:)``, so that no node is missed in between.
  init(
    _ loop: EventLoop, in places: Places, appeared: @escaping (Node) -> Void
  ) throws(SystemError) {
    // Where it runs, its word is waited for: only then have its rules been applied, and what they
    // say is to be left alone is not even opened.
    if access(places.udev, F_OK) == 0 {
      means = .udev(try DeviceMonitor(loop) { appeared(Node($0)) })
    } else {
      means = .folder(
        try FolderMonitor(loop, path: places.nodes) { path in
          if let node = Node(path: path) { appeared(node) }
        })
    }
  }

  /// Calls `body` for each evdev node that is there now.
  func forEachPresent(_ body: (Node) -> Void) throws(SystemError) {
    switch means {
    case .udev(let monitor): try monitor.forEachPresent { body(Node($0)) }
    case .folder(let monitor):
      try monitor.forEachPresent { path in
        if let node = Node(path: path) { body(node) }
      }
    }
  }
}
