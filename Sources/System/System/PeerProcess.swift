import CLinux

/// The process at the other end of a Unix socket: the process that connected, or that listens.
public struct PeerProcess: Hashable, Sendable, CustomStringConvertible {
  /// The process ID.
  public let id: Int32
  /// The kernel's name of the process, up to 15 bytes; `nil` if the process has ended.
  public let name: String?

  /// The process at the other end of this connected socket; `nil` if the kernel does not say, as
  /// for a process outside this PID namespace.
  public init?(of socket: Int32) {
    id = keymoded_peer_process(socket)
    guard id > 0 else { return nil }
    let bytes = try? contents(of: "/proc/\(id)/comm", limit: 64)
    name = bytes.flatMap { $0 }.map { String(decoding: $0.dropLast(), as: UTF8.self) }
  }

  /// `process 1 (systemd)`
  public var description: String {
    let name = name.map { " (\($0))" } ?? ""
    return "process \(id)\(name)"
  }
}
