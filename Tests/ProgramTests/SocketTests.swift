import Foundation
import TestSupport
import Testing

@Suite("The daemon's sockets")
struct SocketTests {
  private let folder: TemporaryFolder
  private let recording: String

  init() throws {
    folder = try TemporaryFolder()
    recording = try folder.write("silence.evemu", "# EVEMU 1.3\n")
  }

  /// A daemon that cannot serve in the folder, and says so.
  private func refused() throws -> Ended {
    try run("keymoded", "--recording", recording, "--socket-dir", folder.path)
  }

  private func isThere(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder.path)/\(name)")
  }

  /// A socket at this path, on which this process listens.
  private func listener(_ name: String, waiting: Int32 = 5) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(withSocketAddress("\(folder.path)/\(name)") { bind(listener, $0, $1) } == 0)
    try #require(listen(listener, waiting) == 0)
    return listener
  }

  @Test("are not taken from a process that listens, even without a lock", arguments: [true, false])
  func served(_ isControl: Bool) throws {
    let name = isControl ? "control.sock" : "state.sock"
    let listener = try listener(name)
    defer { close(listener) }
    // One that nobody serves beside one that is served is left alone as well.
    let second = isControl ? "state.sock" : "control.sock"
    close(try self.listener(second))
    let ended = try refused()
    #expect(ended.status == 1)
    let own = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).dropLast()
    #expect(
      ended.errors
        == "keymoded: cannot serve in '\(folder.path)': process "
        + "\(ProcessInfo.processInfo.processIdentifier) (\(own)) serves there; choose another folder "
        + "with --socket-dir\n")
    #expect(isThere("state.sock") && isThere("control.sock"))
    // The one that listens is still the one that is connected to.
    let client = try RawClient("\(folder.path)/\(name)")
    client.send("x")
    _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    // The daemon that asked comes first.
    var received: [UInt8] = [0]
    for count in [0, 1] {
      let accepted = accept(listener, nil, nil)
      #expect(recv(accepted, &received, 1, 0) == count)
      close(accepted)
    }
    #expect(received == Array("x".utf8))
  }

  @Test("are not taken from a process that has no time to accept")
  func busy() throws {
    let listener = try listener("state.sock", waiting: 0)
    defer { close(listener) }
    let waiting = try RawClient("\(folder.path)/state.sock")
    let ended = try refused()
    #expect(ended.status == 1)
    #expect(
      ended.errors
        == "keymoded: cannot serve in '\(folder.path)': another keymoded serves there; choose another "
        + "folder with --socket-dir\n")
    #expect(isThere("state.sock") && !isThere("control.sock"))
    _ = waiting
  }

  @Test("take the place of those that an ended process left")
  func abandoned() throws {
    for name in ["state.sock", "control.sock"] { close(try listener(name)) }
    let daemon = try RunningDaemon(sockets: folder.path)
    try daemon.change(1)
    #expect(daemon.stop() == 0)
    #expect(!isThere("state.sock") && !isThere("control.sock"))
  }

  @Test("of a successor in a new folder of the same name stay when the daemon ends")
  func successor() throws {
    let sockets = "\(folder.path)/sockets"
    let first = try RunningDaemon(sockets: sockets)
    try FileManager.default.removeItem(atPath: sockets)
    let second = try RunningDaemon(sockets: sockets)
    #expect(first.stop() == 0)
    try second.change(1)
    #expect(second.stop() == 0)
    #expect(!isThere("sockets/state.sock") && !isThere("sockets/control.sock"))
  }

  @Test("are not made where the lock is a link, and nothing is made where it leads")
  func linkedLock() throws {
    let lock = "\(folder.path)/keymoded.lock"
    try FileManager.default.createSymbolicLink(
      atPath: lock, withDestinationPath: "\(folder.path)/elsewhere")
    let ended = try refused()
    #expect(ended.status == 1)
    #expect(
      ended.errors == "keymoded: cannot open '\(lock)': Too many levels of symbolic links\n")
    #expect(!isThere("elsewhere") && !isThere("state.sock"))
  }
}
