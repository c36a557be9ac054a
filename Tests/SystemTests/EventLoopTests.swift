import Glibc
import System
import Terminal
import Testing

@testable import System

@Suite("Event loop")
struct EventLoopTests {
  @Test("a handler is called while its descriptor is readable, until its source is released")
  func io() throws {
    let (loop, pipe) = (try EventLoop(), try TestPipe())
    var calls: [IOEvents] = []
    var source: EventSource?
    source = try loop.addIO(pipe.reading.number, .readable) { events in
      calls.append(events)
      if calls.count == 2 {
        source = nil
        loop.stop()
      }
    }
    #expect(source != nil)
    pipe.write()
    try loop.run()
    #expect(calls == [.readable, .readable])
  }

  @Test("runOnce() dispatches one event, and none if nothing is ready")
  func turns() throws {
    let (loop, pipe) = (try EventLoop(), try TestPipe())
    var count = 0
    let source = try loop.addIO(pipe.reading.number, .readable) { _ in
      var byte: UInt8 = 0
      count += read(pipe.reading.number, &byte, 1)
    }
    try withExtendedLifetime(source) {
      #expect(try !loop.runOnce())
      pipe.write()
      pipe.write()
      #expect(try loop.runOnce())
      #expect(count == 1)
      while try loop.runOnce() {}
      #expect(count == 2)
    }
  }

  @Test("an urgent descriptor is served before each source, even of the first priority")
  func urgent() throws {
    let loop = try EventLoop()
    var calls: [String] = []
    // None is emptied, so all stay ready.
    let (busy, key) = (try [TestPipe(), TestPipe(), TestPipe()], try TestPipe())
    let others = try busy.map { pipe in
      pipe.write()
      return try loop.addIO(pipe.reading.number, .readable) { _ in calls.append("other") }
    }
    for other in others { other.setPriority(.first) }
    try loop.addUrgent(key.reading.number)
    loop.serveUrgent = { calls.append("urgent") }
    try withExtendedLifetime(others) {
      for _ in 0..<4 where try !loop.runOnce() { Issue.record("nothing was served") }
      #expect(calls == Array(repeating: "other", count: 4))
      calls = []
      key.write()
      for _ in 0..<4 where try !loop.runOnce() { Issue.record("nothing was served") }
      #expect(calls == Array(repeating: ["urgent", "other"], count: 4).flatMap { $0 })
    }
  }

  @Test("urgent descriptors wake the loop; their handler may remove one, set a timer and stop")
  func urgentAlone() throws {
    let loop = try EventLoop()
    let pipes = try [TestPipe(), TestPipe()]
    var calls: [String] = []
    let timer = try loop.addTimer {
      calls.append("timer")
      pipes[1].write()
    }
    for pipe in pipes { try loop.addUrgent(pipe.reading.number) }
    loop.serveUrgent = {
      calls.append("urgent")
      if calls.count > 1 { loop.stop() }
      loop.removeUrgent(pipes[0].reading.number)
      timer.set(after: .milliseconds(1))
    }
    pipes[0].write()
    try loop.run()
    #expect(calls == ["urgent", "timer", "urgent"])
  }

  @Test("signals call their handler, even if the process ignores them")
  func signal() throws {
    let loop = try EventLoop()
    var caught: [Int32] = []
    let source = try loop.addSignals([SIGUSR1, SIGUSR2]) { number in
      caught.append(number)
      if number == SIGUSR2 { loop.stop() }
    }
    Glibc.signal(SIGUSR1, SIG_IGN)
    defer { Glibc.signal(SIGUSR1, SIG_DFL) }
    raise(SIGUSR1)
    raise(SIGUSR2)
    try withExtendedLifetime(source) { try loop.run() }
    #expect(caught == [SIGUSR1, SIGUSR2])
  }

  @Test("a timer is called when its time has come, and deferred work once")
  func timers() throws {
    let loop = try EventLoop()
    var calls: [String] = []
    let start = microsecondsSinceBoot()
    let timer = try loop.addTimer {
      calls.append("timer")
      loop.stop()
    }
    let deferred = try loop.addDeferred {
      calls.append("deferred")
      timer.set(at: UInt64(start + 10_000))
    }
    let never = try loop.addDeferred { calls.append("never") }
    deferred.callSoon()
    try withExtendedLifetime(never) { try loop.run() }
    #expect(calls == ["deferred", "timer"])
    #expect(microsecondsSinceBoot() >= start + 10_000)
  }

  @Test("a timer does not wait in order to share a wakeup with other timers")
  func promptTimers() throws {
    let loop = try EventLoop()
    var due = microsecondsSinceBoot()
    var delays: [Int64] = []
    var timer: EventSource?
    timer = try loop.addTimer {
      let now = microsecondsSinceBoot()
      delays.append(now - due)
      if delays.count == 10 { return loop.stop() }
      due = now + 1000
      timer?.set(at: UInt64(due))
    }
    timer?.set(at: UInt64(due))
    try loop.run()
    // By default all would wait for the next quarter of a second. On a busy machine, some are late.
    #expect(delays.dropFirst().contains { $0 < 100_000 }, "\(delays)")
  }

  @Test("a handler may release its own source")
  func letGo() throws {
    let loop = try EventLoop()
    var sources: [EventSource] = []
    for _ in 0..<100 {
      sources.append(try loop.addDeferred { sources.removeAll() })
    }
    for source in sources { source.callSoon() }
    while try loop.runOnce() {}
    #expect(sources.isEmpty)
  }
}

/// A pipe whose reader does not wait.
private final class TestPipe {
  let reading: FileDescriptor
  private let writing: FileDescriptor

  init() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    reading = FileDescriptor(owning: ends[0])
    writing = FileDescriptor(owning: ends[1])
  }

  func write() { #expect(Glibc.write(writing.number, "x", 1) == 1) }
}
