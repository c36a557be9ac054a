import Acting
import KeymodeClient
import Linux
import TestSupport
import Testing

@testable import Linux

/// `KnownStatesTests` has what the session changes.
@Suite("Following states", .timeLimit(.minutes(10)))
struct StatesFollowerTests {
  private let daemon: RunningDaemon
  private let loop: EventLoop

  init() throws { (daemon, loop) = (try RunningDaemon.following(), try EventLoop()) }

  /// Serves the loop until something was told.
  private func next(
    _ told: () -> Result<Occurrence, ClientError>?
  ) throws -> Result<Occurrence, ClientError> {
    while true {
      if let result = told() { return result }
      if try !loop.runOnce() { try awaitInput(loop.all.descriptor, "an occurrence") }
    }
  }

  @Test("the daemon comes, goes and comes back")
  func all() throws {
    var told: [Result<Occurrence, ClientError>] = []
    let follower = try StatesFollower(daemon.folder.path, on: loop, anySession: true) {
      told.append($0)
    }
    func occurrence() throws -> Occurrence {
      try next { told.isEmpty ? nil : told.removeFirst() }.get()
    }
    guard case .states(let first, change: nil) = try occurrence() else { throw Fault() }
    #expect((first.modes.shift, first.modes.keyboard) == ("off", "prepareToEditText"))
    try daemon.trigger("tapTextField")
    guard case .states(let second, let change?) = try occurrence() else { throw Fault() }
    #expect((second.modes.keyboard, change.event) == ("editingText", "tapTextField"))
    daemon.kill()
    #expect(try occurrence() == .unknown(.noDaemon(.connectionLost)))
    try daemon.start()
    #expect(try occurrence() == .states(second, change: nil))
    withExtendedLifetime(follower) {}
  }

  @Test("one that may not wait for a daemon is told of the error")
  func withoutDaemon() throws {
    daemon.stop()
    var told: Result<Occurrence, ClientError>?
    let follower = try StatesFollower(
      daemon.folder.path, on: loop, anySession: true, mayWait: false
    ) { told = $0 }
    #expect(
      try next { told } == .failure(.noDaemon(path: "\(daemon.folder.path)/state.sock")))
    withExtendedLifetime(follower) {}
  }
}

private struct Fault: Error {}
