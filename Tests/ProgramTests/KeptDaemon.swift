import Foundation
import TestSupport
import Testing

/// A daemon without devices, or with one keyboard, and a service manager that stores its descriptors for the next one.
final class KeptDaemon {
  let folder: TemporaryFolder
  private let manager: Int32
  private var process = Process()
  /// The stored descriptors, by name.
  private var kept: [String: Int32] = [:]
  private let keyboard: FIFOKeyboard?
  /// The daemon's last `STATUS=`.
  private(set) var status = ""

  /// In a slow test, too, a second press is within the threshold.
  static let configuration = "devices: { ignore: [\"*\"] }\nshift: { threshold: 60s }\n"

  /// What the daemon has logged since its last start.
  var log: String {
    (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? ""
  }

  /// - Parameter keyboard: the only device that it follows.
  init(
    configuration: String = KeptDaemon.configuration, keyboard: FIFOKeyboard? = nil
  ) throws {
    self.keyboard = keyboard
    folder = try TemporaryFolder()
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
    process.arguments = [
      "-c",
      """
      \(passed.isEmpty ? "" : "export \(telling)")
      exec '\(Place.programs)/keymoded' --config keymoded.yaml --socket-dir '\(folder.path)' \
        \(keyboard.map { "--device '\($0.path)'" } ?? "") \(opened.joined(separator: " "))
      """,
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ["NOTIFY_SOCKET": "\(folder.path)/notify"]
      .merging(sanitizerOptions) { $1 }.merging(keyboard?.environment ?? [:]) { $1 }
    _ = try folder.write("log", "")
    process.standardError = FileHandle(forWritingAtPath: "\(folder.path)/log")
    try process.run()
    while try !notification().contains("READY=1") {}
  }

  /// Ends the daemon with SIGTERM.
  func stop() {
    process.terminate()
    process.waitUntilExit()
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

  /// Runs `keymodectl` with these arguments.
  func ask(_ arguments: String...) throws -> Ended {
    try TestSupport.run(
      "\(Place.programs)/keymodectl", arguments + ["--socket-dir", folder.path])
  }

  /// Makes `count` changes, by sending `shiftPressed`.
  func change(_ count: Int) throws {
    try trigger(Array(repeating: "shiftPressed", count: count))
  }

  /// Sends events, each of which must change a state.
  func trigger(_ events: String...) throws { try trigger(events) }

  private func trigger(_ events: [String]) throws {
    try RawClient("\(folder.path)/control.sock").trigger(events)
  }

  /// The daemon's next notification; stores the descriptor that the daemon passes with it.
  private func notification() throws -> String {
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
