import Session
import KeymodeClient
import System
import TestSupport
import Testing

@testable import System

/// `KnownStatesTests` has what the session changes, and Tests/UserManager what `while` does with it.
@Suite("Following states", .timeLimit(.minutes(10)))
struct StatesFollowerTests {
  @Test("one that may not wait for a daemon is told of the error")
  func withoutDaemon() throws {
    let (folder, loop) = (try TemporaryFolder(), try EventLoop())
    var told: Result<StatesUpdate, any Error>?
    let follower = try StatesFollower(folder.path, on: loop, anySession: true, mayWait: false) {
      told = $0
    }
    while told == nil {
      if try !loop.runOnce() { try #require(loop.findReady(timeout: Int32(boundSeconds) * 1000)) }
    }
    let error = ClientError.noDaemon(path: "\(folder.path)/state.sock")
    #expect(throws: error) { _ = try told?.get() }
    withExtendedLifetime(follower) {}
  }

  @Test("a daemon that does not tell its machines is asked again")
  func machines() throws {
    let (folder, loop) = (try TemporaryFolder(), try EventLoop())
    let refusal = #"{"error":"org.keymoded.Controller.TooManyClients","parameters":{}}"#
    let machines =
      #"{"parameters":{"machines":[{"name":"keyboard","initial":"prepareToEditText","#
      + #""states":["prepareToEditText"],"events":[],"rows":[]}]}}"#
    func daemon(_ answer: String) throws -> ScriptedDaemon {
      let answers = ScriptedDaemon.answers.merging(["ListMachines": [answer]]) { $1 }
      return try ScriptedDaemon(in: folder.path, answers, staysAfterMonitor: true, clients: 2)
    }
    var served = try daemon(refusal)
    var told: [Result<StatesUpdate, any Error>] = []
    let follower = try StatesFollower(
      folder.path, checking: StateConditions(["keyboard=prepareToEditText"]), on: loop,
      anySession: true
    ) { told.append($0) }
    func next() throws -> StatesUpdate {
      let count = told.count
      while told.count == count {
        if try !loop.runOnce() { try #require(loop.findReady(timeout: Int32(boundSeconds) * 1000)) }
      }
      return try told[count].get()
    }
    let first = try next()
    if case .unknown(.noDaemon(.refused)) = first {} else { Issue.record("\(first)") }
    served = try daemon(machines)
    let second = try next()
    if case .states = second {} else { Issue.record("\(second)") }
    withExtendedLifetime((follower, served)) {}
  }
}
