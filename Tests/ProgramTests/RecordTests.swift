import Foundation
import System
import TestSupport
import Testing

/// Tests `keymodectl record` and `keys` with a FIFO instead of a keyboard. Tests/VirtualMachine has real
/// keyboards.
@Suite("keymodectl record")
struct RecordTests {
  /// Records a tap of left Ctrl into `file`, and returns the exit status and the messages.
  private func record(
    _ keyboard: FIFOKeyboard, to file: String, by prefix: [String] = [],
    environment: [String: String] = [:]
  ) throws -> (status: Int32, errors: String) {
    let command =
      prefix + ["\(Place.programs)/keymodectl", "record", "--output", file, keyboard.path]
    let recorder = try RunningProgram(
      command[0], Array(command[1...]),
      environment: keyboard.environment.merging(environment) { $1 })
    try wait(for: "a recording or an error") {
      !recorder.isRunning || recorder.errors.contains("Ctrl+C ends it")
    }
    if recorder.isRunning {
      try keyboard.tap(.leftCtrl)
      try wait(for: "the keys") {
        try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "SYN_REPORT")
          .count > 2
      }
      kill(recorder.number, SIGQUIT)
    }
    return (recorder.end(), recorder.errors)
  }

  private func owner(_ file: String) throws -> [UInt32] {
    var status = stat()
    try #require(lstat(file, &status) == 0)
    return [status.st_uid, status.st_gid, status.st_mode & 0o777]
  }

  @Test(
    "with sudo, the file belongs to its caller, and only the caller can read it",
    .enabled(if: geteuid() == 0),
    arguments: [
      (["SUDO_UID": "1234", "SUDO_GID": "1235"], [1234, 1235]), ([:], [0, 0]),
      (["SUDO_UID": "1234"], [0, 0]), (["SUDO_UID": "x", "SUDO_GID": "1235"], [0, 0]),
      (["SUDO_UID": "-1", "SUDO_GID": "1235"], [0, 0]),
    ] as [([String: String], [UInt32])])
  func ownerOfFile(_ environment: [String: String], _ ids: [UInt32]) throws {
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/typing.yaml"
    let ended = try record(try FIFOKeyboard(), to: file, environment: environment)
    #expect(ended.status == 0)
    #expect(
      ended.errors == "keymodectl: recording 1 keyboard to '\(file)', redacted; Ctrl+C ends it\n")
    #expect(try owner(file) == ids + [0o600])
    #expect(try run("keymodectl", "replay", file).status == 0)
  }

  @Test("only root gives a file to another user", .enabled(if: geteuid() == 0))
  func withoutRoot() throws {
    let folder = try TemporaryFolder()
    let keyboard = try FIFOKeyboard()
    for path in [folder.path, (keyboard.path as NSString).deletingLastPathComponent, keyboard.path]
    {
      try #require(chmod(path, 0o777) == 0)
    }
    let file = "\(folder.path)/typing.yaml"
    let other = ["/usr/bin/setpriv", "--reuid=4321", "--regid=4321", "--clear-groups"]
    let ended = try record(
      keyboard, to: file, by: other, environment: ["SUDO_UID": "1234", "SUDO_GID": "1235"])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(try owner(file) == [4321, 4321, 0o600])
  }

  @Test("a keyboard that may not be read is told once", arguments: ["record", "keys"])
  func refused(_ command: String) throws {
    let ended = try run(
      "/usr/bin/unshare",
      [
        "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
        """
        mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /dev && mkdir /dev/input &&
          touch /dev/input/event0 /dev/input/event1 && chmod 0 /dev/input/* && exec "$@"
        """, "sh", "/usr/bin/setpriv", "--inh-caps=-all", "--bounding-set=-all",
        "\(Place.programs)/keymodectl", command,
      ])
    #expect((ended.status, ended.output) == (5, ""))
    #expect(
      ended.errors == """
        keymodectl: cannot open '/dev/input/event0': Permission denied:
        only root and members of the group 'input' may read keyboards

        """)
  }

  @Test("a link is not followed, and what is there stays its owner's")
  func links() throws {
    let folder = try TemporaryFolder()
    let other = try folder.write("other", "text")
    for (name, target) in [("there", other), ("nowhere", "\(folder.path)/new")] {
      let link = "\(folder.path)/\(name)"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      let before = try owner(other)
      let ended = try record(
        try FIFOKeyboard(), to: link, environment: ["SUDO_UID": "1234", "SUDO_GID": "1235"])
      #expect(
        (ended.status, ended.errors) == (1, "keymodectl: cannot create '\(link)': File exists\n"))
      #expect(try owner(other) == before)
      #expect(try String(contentsOfFile: other, encoding: .utf8) == "text")
    }
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/new"))
  }

  @Test("a key that the configuration of this machine binds survives redaction")
  func boundKey() throws {
    let folder = try TemporaryFolder()
    let keyboard = try FIFOKeyboard()
    let file = "\(folder.path)/typing.yaml"
    // A folder /etc of its own.
    let inNamespace = [
      "/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
      """
      mount -t tmpfs tmpfs /etc && mkdir /etc/keymoded &&
        echo 'keyboard: {bindings: {clickMoreButton: [F9]}}' >/etc/keymoded/keymoded.yaml &&
        exec "$@"
      """, "sh",
    ]
    for (prefix, isBound) in [([], false), (inNamespace, true)] {
      let path = "\(file)\(isBound)"
      let recorder = try RunningProgram(
        (prefix + ["\(Place.programs)/keymodectl"])[0],
        Array((prefix + ["\(Place.programs)/keymodectl"])[1...])
          + ["record", "--output", path, keyboard.path], environment: keyboard.environment)
      try wait(for: "a recording") { recorder.errors.contains("Ctrl+C ends it") }
      try keyboard.tap(.f9)
      try wait(for: "the key") {
        try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "SYN_REPORT")
          .count > 2
      }
      kill(recorder.number, SIGINT)
      #expect(recorder.end() == 0)
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(text.contains("EV_KEY / KEY_F9") == isBound)
    }
  }

  @Test(
    "while record and keys run, their terminal shows nothing that is typed, and keeps nothing of it",
    arguments: ["record", "keys"])
  func terminal(_ command: String) throws {
    let keyboard = try FIFOKeyboard()
    let preload = try #require(keyboard.environment["LD_PRELOAD"])
    let screen = try TerminalScreen(columns: 120)
    let output = command == "record" ? ">/dev/null" : ""
    for end in ["C-c", "C-\\"] {
      try screen.type(
        "clear; LD_PRELOAD=\(preload) keymodectl \(command) \(keyboard.path) \(output)")
      try screen.wait("the beginning") { $0.contains("; Ctrl+C ends it") }
      try screen.type("echo secret")
      // It stops like any other program; meanwhile the shell has its terminal.
      try screen.press("C-z")
      try screen.wait("the shell") { $0.contains("ready>") && $0.contains("Stopped") }
      try screen.type("echo shown; fg")
      try screen.wait("the command again") { $0.contains("\nshown") }
      try screen.wait("the silence") { _ in
        try run("/bin/sh", "-c", "stty -a <\(screen.property("#{pane_tty}"))").output
          .contains(" -echo ")
      }
      try screen.type("echo secret")
      try screen.press(end)
      let text = try screen.wait("the shell") { $0.hasSuffix("\nready>") }
      #expect(!text.contains("secret"))
    }
  }

  @Test("keys shows how late a release comes, and that there is none")
  func releases() throws {
    let keyboard = try FIFOKeyboard()
    let keys = try RunningProgram(
      "keymodectl", ["keys", keyboard.path], environment: keyboard.environment)
    try wait(for: "the beginning") { keys.errors.contains("; Ctrl+C ends it") }
    let now = microsecondsSinceBoot()
    try keyboard.press(.leftShift, at: now - 500_000)
    try keyboard.release(.leftShift, at: now - 150_000)
    try keyboard.tap(.leftCtrl, at: now - 100_000)
    try keyboard.press(.capsLock, at: now)
    let lines = try (0..<6).map { _ in try keys.line().replacing(#/ +FIFO keyboard$/#, with: "") }
    #expect(
      lines == [
        "Left_Shift, shiftPressed", "Left_Shift, released after 350ms", "Left_Ctrl, modifier",
        "Left_Ctrl, released after 1ms: at once, so you cannot hold it to talk", "Caps_Lock, free",
        "Caps_Lock, not released after 2s",
      ])
    kill(keys.number, SIGINT)
    #expect(keys.end() == 0)
  }
}
