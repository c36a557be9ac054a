import Glibc
import Linux
import Terminal
import Testing

@testable import Linux

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

  @Test("an urgent source is served before each handler of another, even of the first priority")
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
    let urgent = try loop.addUrgent(key.reading.number) { calls.append("urgent") }
    try withExtendedLifetime((others, urgent)) {
      for _ in 0..<4 where try !loop.runOnce() { Issue.record("nothing was served") }
      #expect(calls == Array(repeating: "other", count: 4))
      calls = []
      key.write()
      for _ in 0..<4 where try !loop.runOnce() { Issue.record("nothing was served") }
      #expect(calls == Array(repeating: ["urgent", "other"], count: 4).flatMap { $0 })
    }
  }

  @Test("an urgent source wakes the loop; its handler may end it, set a timer and stop the loop")
  func urgentAlone() throws {
    let loop = try EventLoop()
    let pipes = try [TestPipe(), TestPipe()]
    var calls: [String] = []
    var sources: [UrgentSource] = []
    let timer = try loop.addTimer {
      calls.append("timer")
      pipes[1].write()
    }
    sources.append(
      try loop.addUrgent(pipes[0].reading.number) {
        calls.append("first")
        timer.set(after: .milliseconds(1))
        sources[0].end()
      })
    sources.append(
      try loop.addUrgent(pipes[1].reading.number) {
        calls.append("second")
        sources.removeAll()
        loop.stop()
      })
    pipes[0].write()
    try loop.run()
    #expect(calls == ["first", "timer", "second"])
  }

  @Test("the loop's descriptor is readable while an urgent source is ready")
  func urgentDescriptor() throws {
    let loop = try EventLoop()
    let pipe = try TestPipe()
    var calls = 0
    let source = try loop.addUrgent(pipe.reading.number) {
      var byte: UInt8 = 0
      calls += read(pipe.reading.number, &byte, 1)
    }
    try withExtendedLifetime(source) {
      var entry = pollfd(fd: loop.all.descriptor, events: Int16(POLLIN), revents: 0)
      while try loop.runOnce() {}
      #expect(poll(&entry, 1, 0) == 0)
      pipe.write()
      pipe.write()
      #expect(poll(&entry, 1, 0) == 1)
      while try loop.runOnce() {}
      #expect(calls == 2)
      #expect(poll(&entry, 1, 0) == 0)
    }
  }

  @Test("signals call their handler in order")
  func signal() throws {
    let loop = try EventLoop()
    var caught: [Int32] = []
    let source = try loop.addSignals([SIGUSR1, SIGUSR2]) { number in
      caught.append(number)
      if number == SIGUSR2 { loop.stop() }
    }
    // They are not blocked, although threads of the runtime's pool begin with all signals blocked.
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
