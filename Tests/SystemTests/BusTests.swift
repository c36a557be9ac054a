import Foundation
import System
import Terminal
import TestSupport
import Testing

@testable import System
@testable import Terminal

/// Serves the loop until `isSo`.
private func serve(_ loop: EventLoop, until isSo: () -> Bool) throws {
  while true {
    while try loop.runOnce() {}
    if isSo() { return }
    guard loop.findReady(timeout: Int32(boundSeconds) * 1000) else {
      throw TimedOut(waitingFor: "an event of the loop")
    }
  }
}

@Suite("D-Bus", .timeLimit(.minutes(3)))
struct BusTests {
  private typealias Answer = Result<[BusValue], BusError>

  private func answer(_ bus: Bus, _ call: BusCall, _ loop: EventLoop) throws -> Answer {
    var answer: Answer?
    bus.call(call) { answer = $0 }
    try serve(loop) { answer != nil }
    return try #require(answer)
  }

  @Test("a call is answered with what the method returns")
  func call() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    let bus = try test.connect(loop)
    let call = TestBus.call("NameHasOwner", .string(TestBus.name))
    #expect(try answer(bus, call, loop) == .success([.bool(true)]))
    let names = try answer(bus, TestBus.call("ListNames"), loop).get()
    #expect(names.first?.signature == "as")
    #expect(names.first?.elements?.contains(.string(TestBus.name)) == true)
    let all = BusCall.getAll(
      of: TestBus.name, at: "/org/freedesktop/DBus", from: TestBus.name)
    #expect(try answer(bus, all, loop).get().first?["Features"]?.signature == "as")
  }

  @Test("a loop that has ended refuses a bus and a device monitor, which are released once")
  func ended() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    loop.stop()
    try loop.run()
    for _ in 1...100 {
      #expect { _ = try test.connect(loop) } throws: { ($0 as? SystemError)?.code == ESTALE }
      #expect {
        _ = try DeviceMonitor(loop) {}
      } throws: {
        ($0 as? SystemError)?.code == ESTALE
      }
    }
  }

  @Test("a call to a name without an owner fails with the bus's error")
  func error() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    let bus = try test.connect(loop)
    let nowhere = BusCall(
      to: "org.example.Nowhere", path: "/", interface: "org.example.Test", member: "Test")
    guard case .failure(let error) = try answer(bus, nowhere, loop) else {
      Issue.record("no error")
      return
    }
    #expect(error.name == "org.freedesktop.DBus.Error.ServiceUnknown")
    #expect(error.message.contains("org.example.Nowhere"))
  }

  @Test("a handler receives the signals that match, in order, until its slot is released")
  func signals() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    let (listener, owner) = (try test.connect(loop), try test.connect(loop))
    var owners: [String] = []
    let rule = "sender='\(TestBus.name)',member='NameOwnerChanged',arg0='org.example.A'"
    var slot: BusSlot? = try listener.signals(rule) { owners.append($0.last?.text ?? "?") }
    // The match is in force once a later call of the same connection is answered.
    _ = try answer(listener, TestBus.call("GetId"), loop)
    for name in ["org.example.B", "org.example.A"] {
      _ = try answer(owner, TestBus.call("RequestName", .string(name), .uint32(0)), loop)
    }
    _ = try answer(owner, TestBus.call("ReleaseName", .string("org.example.A")), loop)
    try serve(loop) { owners.count == 2 }
    #expect(owners.first?.hasPrefix(":1.") == true)
    #expect(owners.last == "")
    withExtendedLifetime(slot) {}
    slot = nil
    _ = try answer(
      owner, TestBus.call("RequestName", .string("org.example.A"), .uint32(0)), loop)
    _ = try answer(listener, TestBus.call("GetId"), loop)
    #expect(owners.count == 2)
  }

  @Test("a bus that hangs fails a call after its timeout")
  func hang() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    let bus = try test.connect(loop)
    _ = try answer(bus, TestBus.call("GetId"), loop)
    test.send(SIGSTOP)
    var answer: Answer?
    bus.call(TestBus.call("GetId"), timeout: .milliseconds(50)) { answer = $0 }
    try serve(loop) { answer != nil }
    #expect(throws: BusError.self) { try answer?.get() }
  }

  @Test("a bus that ends fails the calls under way, and is told as lost")
  func loss() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    let bus = try test.connect(loop)
    var isLost = false
    let slot = try bus.whenLost { isLost = true }
    _ = try answer(bus, TestBus.call("GetId"), loop)
    test.send(SIGSTOP)
    var answer: Answer?
    bus.call(TestBus.call("GetId")) { answer = $0 }
    test.end()
    try serve(loop) { answer != nil && isLost }
    #expect(throws: BusError.self) { try answer?.get() }
    withExtendedLifetime(slot) {}
  }

  @Test("a connection that is released fails the calls under way")
  func release() throws {
    let (test, loop) = (try TestBus(), try EventLoop())
    var bus: Bus? = try test.connect(loop)
    var answer: Answer?
    bus?.call(TestBus.call("GetId")) { answer = $0 }
    bus = nil
    #expect(throws: BusError.self) { try answer?.get() }
  }

  @Test("a missing bus refuses the connection, or is told as lost")
  func missing() throws {
    let loop = try EventLoop()
    #expect(throws: SystemError.self) { try Bus(.at("unix:path=/nowhere/bus"), on: loop) }
    #expect(throws: SystemError.self) { try Bus(.at("nonsense"), on: loop) }
  }
}
