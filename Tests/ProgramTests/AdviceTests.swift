import Glibc
import TestSupport
import Testing

@Suite("Advice")
struct AdviceTests {
  @Test(
    "no group is advised for a socket that only its owner may use", .enabled(if: geteuid() == 0))
  func socketOfTheOwner() throws {
    let daemon = try RunningDaemon()
    let folder = daemon.folder.path
    #expect(chmod(folder, 0o755) == 0)
    // The checkout may be where only root has access.
    let refused = try run(
      "/bin/sh", "-c",
      """
      cp '\(Place.programs)/keymodectl' '\(folder)/keymodectl' && chmod 755 '\(folder)/keymodectl' &&
        exec setpriv --reuid 65534 --regid 65534 --clear-groups '\(folder)/keymodectl' state \
          --socket-dir '\(folder)'
      """)
    #expect((refused.status, refused.output) == (5, ""))
    #expect(refused.errors == "keymodectl: no permission to use '\(folder)/state.sock'\n")
  }

  @Test("an error says if --socket-dir names a socket instead of its folder")
  func socketForFolder() throws {
    let daemon = try RunningDaemon()
    let ended = try run("keymodectl", "state", "--socket-dir", daemon.stateSocket)
    #expect(ended.status == 3)
    #expect(
      ended.errors.hasSuffix(
        "\n'\(daemon.stateSocket)' is no folder; '--socket-dir' takes the folder of the sockets\n"))
  }

  @Test("a service that is masked is not to be started, but to be unmasked first")
  func masked() throws {
    // Folders /etc and /run of its own.
    let masked = try run(
      "/usr/bin/unshare",
      [
        "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
        """
        mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /etc && mkdir -p /etc/systemd/system &&
          ln -s /dev/null /etc/systemd/system/keymoded.service && exec "$@"
        """, "sh", "\(Place.programs)/keymodectl", "state",
      ])
    #expect(masked.status == 3)
    #expect(
      masked.errors == """
        keymodectl: no keymoded listens on '/run/keymoded/state.sock';
        the service is masked: 'sudo systemctl unmask keymoded' and then \
        'sudo systemctl start keymoded' start it

        """)
  }
}
