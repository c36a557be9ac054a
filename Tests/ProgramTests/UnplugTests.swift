import TestSupport
import Testing

@Suite("Unplugging")
struct UnplugTests {
  @Test("a key that is down on a keyboard that is unplugged is held no more")
  func held() throws {
    let staying = try FIFOKeyboard()
    var leaving: FIFOKeyboard? = try FIFOKeyboard()
    let daemon = try RunningDaemon.following(staying, try #require(leaving))
    let subscriber = try daemon.subscriber()
    // Shift with Ctrl held is a shortcut, which changes nothing.
    try leaving?.press(.leftCtrl)
    leaving = nil
    try wait(for: "the end of the keyboard") { daemon.log.contains("is gone") }
    try staying.tap(.leftShift)
    #expect(try subscriber.sequences(1) == [1])
  }
}
