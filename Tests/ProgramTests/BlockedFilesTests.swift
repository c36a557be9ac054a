import Foundation
import TestSupport
import Testing

/// Files on which an ordinary read or write would wait, perhaps for ever.
@Suite("The daemon waits for no file")
struct BlockedFilesTests {
  private let reason = "not a regular file; write the configuration into a file and name that one\n"

  @Test("only a regular file is taken as the configuration, at a start too")
  func start() throws {
    let folder = try TemporaryFolder()
    let pipe = "\(folder.path)/pipe.yaml"
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/zero"] {
      for other in [["--check"], ["--print-config"], ["--socket-dir", folder.path]] {
        let ended = try run(
          "/usr/bin/timeout",
          ["--kill-after", "1", "60", "\(Place.programs)/keymoded", "--config", path] + other)
        #expect(ended.status == 4)
        #expect(ended.errors == "keymoded: \(path): \(reason)")
      }
    }
  }

  @Test("a reload of a pipe is refused, and the daemon goes on")
  func reload() throws {
    let daemon = try RunningDaemon()
    let file = "\(daemon.folder.path)/keymoded.yaml"
    try FileManager.default.removeItem(atPath: file)
    try #require(mkfifo(file, 0o600) == 0)
    kill(daemon.process.processIdentifier, SIGHUP)
    try expectToGoOn(daemon) { daemon.log.contains("\(file): \(reason)") }
  }

  /// Waits for `isSo`, and expects that the daemon answers and ends.
  private func expectToGoOn(_ daemon: RunningDaemon, _ isSo: () throws -> Bool) throws {
    defer {
      // `Process` waits for its end, so a daemon that does not end must be killed.
      if daemon.process.isRunning { kill(daemon.process.processIdentifier, SIGKILL) }
    }
    try wait(for: "a line of the log", until: isSo)
    try daemon.change(1)
    daemon.process.terminate()
    try wait(for: "the daemon's end") { !daemon.process.isRunning }
    #expect(daemon.process.terminationStatus == 0)
  }

  @Test("a standard error that is full stops nothing, and lines that were lost are counted")
  func full() throws {
    let pipe = Pipe()
    let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    // Not the ends that the daemon inherits: their flags would be the daemon's.
    let own = [(reading, O_RDONLY), (writing, O_WRONLY)].map { end, direction in
      open("/proc/self/fd/\(end.fileDescriptor)", direction | O_NONBLOCK | O_CLOEXEC)
    }
    defer { for end in own { close(end) } }
    var page = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
    while write(own[1], page, page.count) > 0 {}
    #expect(errno == EAGAIN)

    let daemon = try RunningDaemon(errors: writing)
    try daemon.change(1)
    #expect(fcntl(writing.fileDescriptor, F_GETFL) & O_NONBLOCK == 0)
    kill(daemon.process.processIdentifier, SIGHUP)
    try wait(for: "a reload") { try daemon.ask("stats").lines.contains("reloads        1") }
    var text = ""
    func read() {
      while case let count = Glibc.read(own[0], &page, page.count), count > 0 {
        text += String(decoding: page[..<count], as: UTF8.self)
      }
    }
    read()
    kill(daemon.process.processIdentifier, SIGHUP)
    try expectToGoOn(daemon) {
      read()
      return text.contains(": standard error was full; lines of this log that were lost: 3\n")
    }
  }
}
