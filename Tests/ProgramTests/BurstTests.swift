import System
import TestSupport
import Testing

/// libevdev reads many events with one system call and keeps them. Events that it keeps do not make
/// the device readable, so the daemon must not wait for the device while there are any.
@Suite("Many events in one write")
struct BurstTests {
  @Test(
    "a client is told of every event of one write, though nothing is written after it",
    // The daemon serves other devices after 64 key events; libevdev keeps up to 256 events.
    arguments: [63, 64, 65, 127, 128, 129, 257, 1000], [true, false])
  func burst(_ count: Int, isAlone: Bool) throws {
    let keyboard = try FIFOKeyboard()
    // Beside another keyboard, a keyboard is read only if it is readable or may have more.
    let other = isAlone ? keyboard : try FIFOKeyboard()
    let daemon = try RunningDaemon.following(
      keyboard, other, configuration: "shift: { threshold: 1us }")
    let subscriber = try RawClient("\(daemon.folder.path)/state.sock")
    try subscriber.subscribe()
    let last = microsecondsSinceBoot()
    // Presses and releases in turn, of which each press changes Shift.
    try keyboard.write(
      (0..<count).map { index in
        .init(key: .leftShift, isPress: index % 2 == 0, time: last - Int64(count - index) * 1000)
      })
    let presses = (count + 1) / 2
    #expect(try subscriber.sequences(presses) == (1...Int64(presses)).map(\.self))
    let state = try daemon.ask("state", "shift").output
    #expect(state == (presses % 2 == 1 ? "on\n" : "off\n"))
  }
}
