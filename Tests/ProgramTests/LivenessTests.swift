import KeymodeClient
import System
import TestSupport
import Testing

@testable import Session

/// Tests/UserManager has what `while` does with it.
@Suite("Liveness of the daemon", .timeLimit(.minutes(5)))
struct LivenessTests {
  private let loop: EventLoop

  init() throws { loop = try EventLoop() }

  private func serve(until isSo: () -> Bool) throws {
    while !isSo() {
      if try !loop.runOnce() { try #require(loop.findReady(timeout: Int32(boundSeconds) * 1000)) }
    }
  }

  @Test("all questions use one connection")
  func oneConnection() throws {
    let folder = try TemporaryFolder()
    let daemon = try ScriptedDaemon(in: folder.path, ScriptedDaemon.answers)
    let liveness = try Liveness(of: folder.path, on: loop) { Issue.record("\($0)") }
    liveness.begin()
    try serve { daemon.calls.count == 4 }
    #expect(daemon.ends == 0)
    liveness.end()
    try wait(for: "the end of the connection") { daemon.ends == 1 }
  }

  @Test("a lost connection is replaced, and a daemon that hangs, or is none, is noticed")
  func lost() throws {
    let daemon = try RunningDaemon()
    var errors: [ClientError] = []
    let liveness = try Liveness(of: daemon.sockets, on: loop) { errors.append($0) }
    let control = try daemon.client(\.controlSocket)
    func clients(_ client: RawClient) throws -> Int64? {
      try client.result("org.keymoded.Controller.GetStatistics")["clients"]?.integer
    }
    liveness.begin()
    // Long enough for several questions.
    let start = ContinuousClock.now
    try serve { .now - start > .seconds(1) }
    #expect(try clients(control) == 2)
    daemon.kill()
    try daemon.start()
    let next = try daemon.client(\.controlSocket)
    var isThere = false
    try serve {
      isThere = (try? clients(next)) == 2
      return isThere || !errors.isEmpty
    }
    #expect(isThere && errors == [])
    let stopped = ContinuousClock.now
    try daemon.whileStopped { try serve { !errors.isEmpty } }
    #expect(errors == [.noAnswer(path: daemon.stateSocket)])
    #expect(.now - stopped >= .milliseconds(450))
    daemon.kill()
    errors = []
    try serve { !errors.isEmpty }
    #expect([.noDaemon(path: daemon.stateSocket), .connectionLost].contains(errors.first))
    liveness.end()
  }
}
