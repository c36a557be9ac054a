import Acting
import KeymodeClient
import Linux
import TestSupport
import Testing

@testable import Linux

/// `KnownStatesTests` has what the session changes, and Tests/UserManager what `while` does with it.
@Suite("Following states", .timeLimit(.minutes(10)))
struct StatesFollowerTests {
  @Test("one that may not wait for a daemon is told of the error")
  func withoutDaemon() throws {
    let (folder, loop) = (try TemporaryFolder(), try EventLoop())
    var told: Result<Occurrence, any Error>?
    let follower = try StatesFollower(folder.path, on: loop, anySession: true, mayWait: false) {
      told = $0
    }
    while told == nil {
      if try !loop.runOnce() { try #require(loop.wait(upTo: Int32(boundSeconds) * 1000)) }
    }
    let error = ClientError.noDaemon(path: "\(folder.path)/state.sock")
    #expect(throws: error) { _ = try told?.get() }
    withExtendedLifetime(follower) {}
  }
}
