import Foundation
import TestSupport
import Testing

/// `keymodectl doctor` without systemd; Tests/UserManager and Tests/VirtualMachine have it.
@Suite("keymodectl doctor")
struct DoctorTests {
  private static let talk = """
    \(RunningDaemon.withoutDevices)
    keyboard:
      bindings: { clickSwitchButton: [F9, F9 release] }

    """

  /// The signs before the names of what was looked at.
  private func signs(_ text: String) -> [String: String] {
    let lines = text.matches(of: /(?m)^(ok|no|-) +([A-Za-z]+( [a-z]+)?) {2}/)
    return lines.reduce(into: [:]) { $0[String($1.2)] = String($1.1) }
  }

  @Test("without a daemon each line that is not right has the command that mends it")
  func nothing() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("k.yaml", "shift: { treshold: 1s }\n")
    let ended = try run(
      "keymodectl", "doctor", "--config", file, "--socket-dir", folder.path,
      environment: ["XDG_RUNTIME_DIR": folder.path])
    #expect((ended.status, ended.errors) == (1, ""))
    #expect(
      ended.output.hasPrefix(
        """
        no  daemon         no keymoded listens on '\(folder.path)/state.sock';
                           start one with 'keymoded --socket-dir \(folder.path)'
        no  configuration  \(file):1:10: unknown setting 'treshold'; did you mean 'threshold'?
                             shift: { treshold: 1s }
                                      ^~~~~~~~
                           mend this; 'sudo systemctl reload keymoded' applies it

        """))
    #expect(
      ended.output.contains("\nno  PipeWire       cannot connect to '\(folder.path)/pipewire-0': "))
    #expect(
      ended.output.hasSuffix(
        "\n\(padding)'systemctl --user enable --now keymode-call.service' makes one\n"))
    let signs = signs(ended.output)
    #expect(signs["right"] == "-" && signs["talk key"] == "-" && signs["a key"] == "-")
  }

  private let padding = String(repeating: " ", count: 19)

  @Test("on a terminal it asks for a press, and tells only that it came")
  func key() throws {
    let keyboard = try FIFOKeyboard()
    let daemon = try RunningDaemon.following(keyboard, configuration: Self.talk)
    let screen = try TerminalScreen(columns: 100, rows: 30)
    let file = "\(daemon.folder.path)/keymoded.yaml"
    try screen.type(
      "clear; PIPEWIRE_REMOTE=\(daemon.stateSocket) PIPEWIRE_RUNTIME_DIR=/ "
        + "keymodectl doctor --config \(file) --socket-dir \(daemon.sockets); echo status $?")
    try screen.wait("the question") {
      $0.contains("press Shift, and release it, within 10 seconds")
    }
    try keyboard.tap(.leftShift)
    let text = try screen.wait("the end") { $0.contains("\nstatus 1") }
    #expect(text.contains("\nok  a key          it has arrived\n"))
    #expect(text.contains("\nok  keyboards      keyboards followed: 1\n"))
    #expect(text.contains("\nok  talk key       F9, with its release\n"))
    let wrong = signs(text).filter { $0.value != "ok" }
    #expect(wrong == ["microphone": "no"], "\(text)")
  }

  @Test("it says which right is missing", .enabled(if: geteuid() == 0))
  func right() throws {
    let daemon = try RunningDaemon()
    let folder = daemon.folder.path
    // The checkout may be where only root has access.
    let ended = try run(
      "/bin/sh", "-c",
      """
      chmod 755 '\(folder)'; chgrp 65534 '\(folder)'/*.sock; chmod 660 '\(folder)'/*.sock
      cp '\(Place.programs)/keymodectl' '\(folder)/keymodectl'
      exec setpriv --reuid 65533 --regid 65533 --clear-groups '\(folder)/keymodectl' doctor \
        --socket-dir '\(folder)'
      """)
    #expect(ended.status == 1)
    #expect(
      ended.output.contains(
        """

        no  right          no permission to use '\(folder)/state.sock':
                           only members of the group 'nogroup' may use it;
                           'sudo adduser $USER nogroup' and a restart of the computer allow it

        """))
    #expect(signs(ended.output)["daemon"] == "ok")
  }
}
