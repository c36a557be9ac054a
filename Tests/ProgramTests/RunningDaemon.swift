import Foundation
import TestSupport
import Testing

/// The daemon under test, in a process of its own, and a service manager that stores its descriptors for
/// the next process.
final class RunningDaemon {
  let folder: TemporaryFolder
  private(set) var process = Process()
  private let manager: Int32
  /// What it follows.
  private let devices: [String]
  private let environment: [String: String]
  private let errors: FileHandle?
  private let streams: String
  /// The stored descriptors, by name.
  private var kept: [String: Int32] = [:]
  /// The daemon's last `STATUS=`.
  private(set) var status = ""

  let sockets: String
  var stateSocket: String { "\(sockets)/state.sock" }
  var controlSocket: String { "\(sockets)/control.sock" }
  /// What the daemon has logged since its last start.
  var log: String {
    (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? ""
  }

  /// In a slow test, too, a second press is within the threshold.
  static let withoutDevices = "devices: { ignore: [\"*\"] }\nshift: { threshold: 60s }\n"

  /// Starts a daemon that plays a recording, by default one without events.
  ///
  /// - Parameters:
  ///   - sockets: the folder in which it makes its sockets; by default one of its own.
  ///   - errors: its standard error; by default the ``log``.
  ///   - streams: redirections of the shell.
  convenience init(
    recording: String = "# EVEMU 1.3\n", speed: String = "max", configuration: String = "",
    sockets: String? = nil, errors: FileHandle? = nil, streams: String = ""
  ) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("recording.evemu", recording)
    try self.init(
      folder, ["--recording", "recording.evemu", "--speed", speed], configuration,
      sockets: sockets, errors: errors, streams: streams)
  }

  /// Starts a daemon that follows no device, or these keyboards alone.
  static func following(
    _ keyboards: FIFOKeyboard..., configuration: String = withoutDevices
  ) throws -> RunningDaemon {
    try RunningDaemon(
      TemporaryFolder(), keyboards.flatMap { ["--device", $0.path] }, configuration,
      environment: keyboards.first?.environment ?? [:])
  }

  private init(
    _ folder: TemporaryFolder, _ devices: [String], _ configuration: String,
    environment: [String: String] = [:], sockets: String? = nil, errors: FileHandle? = nil,
    streams: String = ""
  ) throws {
    (self.folder, self.devices, self.environment) = (folder, devices, environment)
    (self.errors, self.streams) = (errors, streams)
    self.sockets = sockets ?? folder.path
    // The tests must not use a configuration of this machine.
    _ = try folder.write("keymoded.yaml", configuration)
    manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let manager = manager
    try #require(withSocketAddress("\(folder.path)/notify") { bind(manager, $0, $1) } == 0)
    try start()
  }

  deinit {
    if process.isRunning { stop() }
    close(manager)
    forget()
  }

  /// Writes the configuration that the daemon reads when it is started.
  func configure(_ text: String) throws { _ = try folder.write("keymoded.yaml", text) }

  /// Starts the daemon with the stored descriptors, and waits until it is ready.
  func start() throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let own = ProcessInfo.processInfo.processIdentifier
    let passed = kept.sorted { $0.key < $1.key }
    let opened = passed.enumerated().map { "\($0 + 3)<>/proc/\(own)/fd/\($1.value)" }
    let names = passed.map(\.key).joined(separator: ":")
    let telling = "LISTEN_PID=$$ LISTEN_FDS=\(passed.count) LISTEN_FDNAMES=\(names)"
    process.arguments =
      [
        "-c",
        """
        \(passed.isEmpty ? "" : "export \(telling)")
        exec '\(Place.programs)/keymoded' --config '\(folder.path)/keymoded.yaml' \
          --socket-dir '\(sockets)' "$@" \
          \(opened.joined(separator: " ")) \(streams)
        """, "sh",
      ] + devices
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ["NOTIFY_SOCKET": "\(folder.path)/notify"]
      .merging(sanitizerOptions) { $1 }.merging(environment) { $1 }
    _ = try folder.write("log", "")
    process.standardError = errors ?? FileHandle(forWritingAtPath: "\(folder.path)/log")
    try process.run()
    while try !notification().contains("READY=1") {}
  }

  /// Ends the daemon with SIGTERM.
  ///
  /// - Returns: its exit status.
  @discardableResult
  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Ends the daemon with SIGKILL.
  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Removes the stored descriptors of these names, or all of them.
  func forget(_ names: String...) {
    for (name, descriptor) in kept where names.isEmpty || names.contains(name) {
      close(descriptor)
      kept[name] = nil
    }
  }

  /// Runs `body` while SIGSTOP keeps the daemon from running.
  func whileStopped(_ body: () throws -> Void) throws {
    let pid = process.processIdentifier
    Glibc.kill(pid, SIGSTOP)
    defer { Glibc.kill(pid, SIGCONT) }
    var status = siginfo_t()
    try #require(waitid(P_PID, id_t(pid), &status, WSTOPPED | WNOWAIT) == 0)
    try body()
  }

  /// Runs `keymodectl` with these arguments.
  func ask(_ arguments: String...) throws -> Ended {
    try run("keymodectl", arguments + ["--socket-dir", sockets])
  }

  func client(_ path: KeyPath<RunningDaemon, String> = \.stateSocket) throws -> RawClient {
    try RawClient(self[keyPath: path])
  }

  /// A client that has subscribed and got the first reply.
  func subscriber() throws -> RawClient {
    let client = try client()
    try client.subscribe()
    return client
  }

  /// Makes `count` changes, by sending `shiftPressed`.
  func change(_ count: Int) throws {
    try client(\.controlSocket).trigger(Array(repeating: "shiftPressed", count: count))
  }

  /// Sends events, each of which must change a state.
  func trigger(_ events: String...) throws { try client(\.controlSocket).trigger(events) }

  /// The daemon's next notification; stores the descriptor that the daemon passes with it.
  func notification() throws -> String {
    try awaitInput(manager, "a notification")
    var passed: Int32?
    var text = [UInt8](repeating: 0, count: 4096)
    // Room for the header of a control message and one descriptor.
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
              passed = control.load(fromByteOffset: 16, as: Int32.self)
            }
          }
          return count
        }
      }
    }
    let told = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
    let lines = told.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1) }
    let values = Dictionary(uniqueKeysWithValues: lines.map { ($0[0], String($0[1])) })
    if let name = values["FDNAME"] {
      if values["FDSTOREREMOVE"] == "1" { forget(name) }
      if let passed { kept[name] = passed }
    }
    status = values["STATUS"] ?? status
    return told
  }
}
