import Foundation
import TestSupport
import Testing

@Suite("Sockets of the daemon")
struct SocketTests {
  private let folder: TemporaryFolder
  private let recording: String

  init() throws {
    folder = try TemporaryFolder()
    recording = try folder.write("silence.evemu", "# EVEMU 1.3\n")
  }

  /// Runs a daemon that cannot serve in the folder.
  private func refused() throws -> Ended {
    try run("keymoded", "--recording", recording, "--socket-dir", folder.path)
  }

  private func isThere(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder.path)/\(name)")
  }

  /// A socket in the folder, on which this process listens.
  private func listener(_ name: String, waiting: Int32 = 5) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(withSocketAddress("\(folder.path)/\(name)") { bind(listener, $0, $1) } == 0)
    try #require(listen(listener, waiting) == 0)
    return listener
  }

  @Test(
    "the sockets of a listening process are not replaced, even without a lock",
    arguments: [true, false])
  func served(_ isControl: Bool) throws {
    let name = isControl ? "control.sock" : "state.sock"
    let listener = try listener(name)
    defer { close(listener) }
    // An abandoned socket beside the served one is left alone too.
    let second = isControl ? "state.sock" : "control.sock"
    close(try self.listener(second))
    let ended = try refused()
    #expect(ended.status == 1)
    let own = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).dropLast()
    #expect(
      ended.errors
        == "keymoded: cannot serve in '\(folder.path)': process "
        + "\(ProcessInfo.processInfo.processIdentifier) (\(own)) serves there; choose another "
        + "directory with --socket-dir\n")
    #expect(isThere("state.sock") && isThere("control.sock"))
    // Clients still connect to the listening process.
    let client = try RawClient("\(folder.path)/\(name)")
    client.send("x")
    _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    // The first connection is that of the daemon, which tried whether a process listens.
    var received: [UInt8] = [0]
    for count in [0, 1] {
      let accepted = accept(listener, nil, nil)
      #expect(recv(accepted, &received, 1, 0) == count)
      close(accepted)
    }
    #expect(received == Array("x".utf8))
  }

  @Test("the socket of a process that is too busy to accept is not replaced")
  func busy() throws {
    let listener = try listener("state.sock", waiting: 0)
    defer { close(listener) }
    let waiting = try RawClient("\(folder.path)/state.sock")
    let ended = try refused()
    #expect(ended.status == 1)
    #expect(
      ended.errors
        == "keymoded: cannot serve in '\(folder.path)': another keymoded serves there; choose "
        + "another directory with --socket-dir\n")
    #expect(isThere("state.sock") && !isThere("control.sock"))
    _ = waiting
  }

  @Test("the sockets that an ended process left are replaced")
  func abandoned() throws {
    for name in ["state.sock", "control.sock"] { close(try listener(name)) }
    let daemon = try RunningDaemon(sockets: folder.path)
    try daemon.change(1)
    #expect(daemon.stop() == 0)
    #expect(!isThere("state.sock") && !isThere("control.sock"))
  }

  @Test("a daemon that ends removes its own sockets, not those of a second one in a new folder")
  func successor() throws {
    let sockets = "\(folder.path)/sockets"
    let first = try RunningDaemon(sockets: sockets)
    try FileManager.default.removeItem(atPath: sockets)
    let second = try RunningDaemon(sockets: sockets)
    #expect(first.stop() == 0)
    #expect(isThere("sockets/state.sock") && isThere("sockets/control.sock"))
    try second.change(1)
    #expect(second.stop() == 0)
    #expect(!isThere("sockets/state.sock") && !isThere("sockets/control.sock"))
  }

  @Test("a lock that is a symbolic link is refused, and its target is not created")
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
