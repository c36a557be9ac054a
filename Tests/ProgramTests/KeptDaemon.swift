import Foundation
import TestSupport
import Testing

/// A daemon that follows no device, with a service manager that keeps its memory when it ends.
final class KeptDaemon {
  let folder: TemporaryFolder
  private let manager: Int32
  private var process = Process()
  private var memory: Int32 = -1

  init() throws {
    folder = try TemporaryFolder()
    // A second press that a slow test sends is one of capsLock, too.
    _ = try folder.write(
      "deaf.yaml", "devices: { ignore: [\"*\"] }\nshift: { threshold: 60s }\n")
    manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let manager = manager
    try #require(withSocketAddress("\(folder.path)/notify") { bind(manager, $0, $1) } == 0)
    try start()
  }

  deinit {
    if process.isRunning { stop() }
    close(manager)
    if memory >= 0 { close(memory) }
  }

  /// Starts it, with the memory that was kept, and waits until it is ready.
  func start() throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let passing =
      memory < 0
      ? ""
      : """
      LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=states; export LISTEN_PID LISTEN_FDS LISTEN_FDNAMES
      exec 3<>/proc/\(ProcessInfo.processInfo.processIdentifier)/fd/\(memory)

      """
    process.arguments = [
      "-c",
      passing
        + "exec '\(Place.programs)/keymoded' --config deaf.yaml --socket-dir '\(folder.path)'",
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ["NOTIFY_SOCKET": "\(folder.path)/notify"]
      .merging(sanitizerOptions) { $1 }
    process.standardError = FileHandle.nullDevice
    try process.run()
    while try !notification().contains("READY=1") {}
  }

  /// Ends it.
  func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  /// Forgets what was kept.
  func forget() {
    close(memory)
    memory = -1
  }

  /// Makes changes, by pressing Shift as a client.
  func change(_ count: Int) throws {
    try trigger(Array(repeating: "shiftPressed", count: count))
  }

  /// Sends events that each change something.
  func trigger(_ events: String...) throws { try trigger(events) }

  private func trigger(_ events: [String]) throws {
    try RawClient("\(folder.path)/control.sock").trigger(events)
  }

  /// What it tells its service manager next; memory that it hands over is kept.
  private func notification() throws -> String {
    try awaitInput(manager, "a notification")
    var text = [UInt8](repeating: 0, count: 4096)
    // The header that the kernel puts before what is passed, and one descriptor.
    var control = [UInt64](repeating: 0, count: 8)
    let count = text.withUnsafeMutableBytes { text in
      control.withUnsafeMutableBytes { control in
        var part = iovec(iov_base: text.baseAddress, iov_len: text.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
          let count = recvmsg(manager, &message, 0)
          if message.msg_controllen >= 20 {
            let header = control.load(as: cmsghdr.self)
            if header.cmsg_type == Int32(SCM_RIGHTS) {
              memory = control.load(fromByteOffset: 16, as: Int32.self)
            }
          }
          return count
        }
      }
    }
    return String(decoding: text.prefix(max(0, count)), as: UTF8.self)
  }
}
