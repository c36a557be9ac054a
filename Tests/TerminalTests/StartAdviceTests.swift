import Glibc
import Terminal
import Testing

@Suite("How to start a daemon")
struct StartAdviceTests {
  private static let joining = Membership.missing(user: "anna", group: "input").advice

  @Test(
    "the advice is what works on the machine",
    arguments: [
      (
        StartAdvice(hasService: true, isRoot: false, permission: joining), true,
        "start it with 'sudo systemctl start keymoded'"
      ),
      (
        StartAdvice(hasService: true, isRoot: true, permission: nil), true,
        "start it with 'systemctl start keymoded'"
      ),
      (
        StartAdvice(hasService: false, isRoot: true, permission: nil), true,
        "start one with 'keymoded'"
      ),
      (
        StartAdvice(hasService: false, isRoot: false, permission: joining), true,
        """
        start one with 'keymoded';
        to read keyboards it needs the group 'input': 'sudo usermod -aG input anna' adds you; then \
        log in again
        """
      ),
      (
        StartAdvice(hasService: true, isRoot: false, permission: nil), false,
        """
        start one with 'keymoded --socket-dir /tmp/x',
        or leave out --socket-dir and KEYMODED_SOCKET_DIR to look in the usual place
        """
      ),
    ] as [(StartAdvice, Bool, TerminalText)])
  func advice(_ advice: StartAdvice, _ isDefault: Bool, _ text: TerminalText) {
    #expect(advice.text(directory: "/tmp/x", isDefault: isDefault) == text)
  }

  @Test("a membership that only the next login brings is told from one that is missing")
  func membership() {
    #expect(Membership.member.advice == nil)
    #expect(Membership.noGroup.advice == nil)
    #expect(
      Membership.afterLogin("keymoded-state").advice
        == "you are in the group 'keymoded-state' from your next login on")
  }

  @Test("a group that does not exist is told of this process")
  func noGroup() {
    let membership = Membership.ofThisProcess(in: "no-such-group")
    #expect(membership == (geteuid() == 0 ? .member : .noGroup))
  }
}
