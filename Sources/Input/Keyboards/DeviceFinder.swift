import Glibc
import System
import Terminal

/// Finds evdev nodes: through udev or, if udev does not run, in the folder of the nodes.
final class DeviceFinder {
  /// An evdev node that is present.
  struct Node {
    /// Its path, such as `/dev/input/event3`.
    let path: String
    /// The kind that udev assigned; `nil` without udev, because only the opened device tells its
    /// kind then.
    let kind: DeviceKind?
    /// Whether udev's rules exclude the node: by the property `KEYMODED_IGNORE`, or by a seat other
    /// than `seat0`.
    let isIgnored: Bool

    fileprivate init(_ device: UdevDevice) {
      path = device.node
      kind = DeviceKind(device)
      let seat = device.property("ID_SEAT") ?? "seat0"
      isIgnored = device.property("KEYMODED_IGNORE") == "1" || seat != "seat0"
    }

    fileprivate init?(path: String) {
      guard path.split(separator: "/").last?.hasPrefix("event") == true else { return nil }
      self.path = path
      kind = nil
      isIgnored = false
    }
  }

  /// `nodes` is the folder of the nodes. `udevControl` is a file that exists while udev runs.
  struct Paths {
    var nodes = "/dev/input"
    var udevControl = "/run/udev/control"
  }

  private enum Backend {
    case udev(DeviceMonitor)
    case folder(FolderMonitor)
  }

  /// The delay from the first report to the listing of the nodes, so that nodes that appear
  /// together need only one listing.
  private static let listingDelay = Duration.milliseconds(10)

  private let backend: Backend

  /// Calls `changed`, from the loop, after nodes appeared or changed: the permissions of a node may
  /// be set late. Watches from now on, so that a later ``forEachPresent(_:)`` misses no node.
  init(
    _ loop: EventLoop, in paths: Paths, changed: @escaping () -> Void
  ) throws(SystemError) {
    let timer = try loop.addTimer(handler: changed)
    // A later report does not delay the timer: otherwise many reports could delay it for ever.
    let report = { if !timer.isEnabled { timer.set(after: Self.listingDelay) } }
    // If udev runs, waits for its message, because udev has applied its rules by then: a node that
    // the rules exclude must not even be opened.
    if access(paths.udevControl, F_OK) == 0 {
      backend = .udev(try DeviceMonitor(loop, changed: report))
    } else {
      backend = .folder(try FolderMonitor(loop, path: paths.nodes, changed: report))
    }
  }

  /// Calls `body` for each evdev node that is present now.
  func forEachPresent(_ body: (Node) -> Void) throws(SystemError) {
    switch backend {
    case .udev(let monitor): try monitor.forEachPresent { body(Node($0)) }
    case .folder(let monitor):
      try monitor.forEachPresent { path in
        if let node = Node(path: path) { body(node) }
      }
    }
  }
}
