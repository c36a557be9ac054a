import Foundation
import TestSupport
import Testing
import Wire

/// The programs, started with some of standard input, output and error closed: what they print must
/// not reach a socket or file that got the number of such a descriptor.
@Suite("Closed standard streams", .timeLimit(.minutes(5)))
struct ClosedStreamsTests {
  static let combinations = [
    "<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full",
    "<&- >/dev/full 2>&-",
  ]

  /// Commands that write something, and need no daemon.
  static let commands = [
    "keymodectl --help", "keymodectl --version", "keymodectl graph shift",
    "keymodectl graph keyboard --format mermaid", "keymodectl replay recording.evemu",
    "keymodectl replay --json --timeline picture.svg recording.evemu",
    "keymoded --help", "keymoded --version",
  ]

  private static let recording = "# EVEMU 1.3\nE: 5.000001 0001 002a 0001\n"

  private static func isWritable(_ streams: String) -> Bool {
    !streams.contains(" >") && !streams.hasPrefix(">")
  }

  @Test(
    "output never goes into a file that got the number of a standard stream", arguments: commands,
    combinations)
  func alone(_ command: String, _ streams: String) throws {
    let folder = try TemporaryFolder()
    let recording = try folder.write("recording.evemu", Self.recording)
    let ended = try run(
      "/bin/sh", "-c", "cd \(folder.path) && '\(Place.programs)'/\(command) \(streams)")
    #expect(ended.status == (Self.isWritable(streams) ? 0 : 1))
    #expect(ended.output.isEmpty != Self.isWritable(streams))
    let reason = streams.contains("/dev/full") ? "No space left on device" : "Bad file descriptor"
    let message = "\(command.prefix { $0 != " " }): cannot write 'standard output': \(reason)\n"
    let isTold = !Self.isWritable(streams) && !streams.contains("2>&-")
    #expect(ended.errors == (isTold ? message : ""))
    #expect(try String(contentsOfFile: recording, encoding: .utf8) == Self.recording)
    if command.contains("--timeline"), Self.isWritable(streams) {
      let picture = try String(contentsOfFile: "\(folder.path)/picture.svg", encoding: .utf8)
      #expect(picture.hasPrefix("<svg ") && picture.hasSuffix("</svg>\n"))
    }
  }

  @Test(
    "the daemon's sockets never get the number of a standard stream",
    arguments: ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func daemon(_ streams: String) throws {
    let daemon = try RunningDaemon(recording: Self.recording, streams: streams)
    for number in 0...2 {
      let target = try FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(daemon.process.processIdentifier)/fd/\(number)")
      #expect(
        !target.hasPrefix("socket:") && !target.hasPrefix("anon_inode:"), "\(number): \(target)")
    }
    // What the daemon logs at a reload must not appear in a reply.
    let client = try daemon.client(\.controlSocket)
    kill(daemon.process.processIdentifier, SIGHUP)
    while try !daemon.notification().contains("RELOADING=1") {}
    #expect(
      try client.result("org.keymoded.Controller.GetState")["state"]?["states"]?["shift"] == "on")
  }
}
