import KeyboardModes
import Linux
import Terminal
import Testing

@testable import Daemon

@Suite("Alarm")
struct AlarmTests {
  @Test("an alarm for the same time comes earlier if the clock jumps ahead")
  func jump() throws {
    let loop = try EventLoop()
    var calls: [String] = []
    let alarm = try Alarm(on: loop) {
      calls.append("alarm")
      loop.stop()
    }
    let bound = try loop.addTimer {
      calls.append("bound")
      loop.stop()
    }
    let now = microsecondsSinceBoot()
    bound.set(at: UInt64(now + 60_000_000))
    let time = Time(microseconds: 5_000_000)
    alarm.set(to: time) { _ in now + 3_600_000_000 }
    alarm.set(to: time) { _ in now + 1000 }
    try withExtendedLifetime((alarm, bound)) { try loop.run() }
    #expect(calls == ["alarm"])
  }

  @Test("an alarm that is turned off does not come, and can be set to the same time again")
  func off() throws {
    let loop = try EventLoop()
    var calls = 0
    let alarm = try Alarm(on: loop) {
      calls += 1
      loop.stop()
    }
    let now = microsecondsSinceBoot()
    let time = Time(microseconds: 5_000_000)
    alarm.set(to: time) { _ in now }
    alarm.set(to: nil) { _ in now }
    while try loop.runOnce() {}
    #expect(calls == 0)
    alarm.set(to: time) { _ in now }
    try withExtendedLifetime(alarm) { try loop.run() }
    #expect(calls == 1)
  }
}
