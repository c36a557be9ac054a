import Acting
import KeymodeClient
import TestSupport
import Testing

/// The states of a real daemon, and a session that the tests put in front and away.
@Suite("Following states", .timeLimit(.minutes(10)))
@MainActor
struct StatesFollowerTests {
  private let daemon: KeptDaemon
  private let told = AsyncStream.makeStream(of: Occurrence.self)

  init() throws { daemon = try KeptDaemon() }

  private func follow(_ session: AsyncStream<Bool>?) -> Task<Void, any Error> {
    let follower = StatesFollower(Client(directory: daemon.folder.path), session: session)
    let told = told.continuation
    return Task { @MainActor in
      defer { told.finish() }
      try await follower.run { told.yield($0) }
    }
  }

  @Test("the session and the daemon come and go")
  func all() async throws {
    let session = AsyncStream.makeStream(of: Bool.self)
    let task = follow(session.stream)
    var occurrences = told.stream.makeAsyncIterator()
    session.continuation.yield(true)
    guard case .states(let first, change: nil) = await occurrences.next() else { throw Fault() }
    #expect((first.shift, first.keyboard) == ("off", "prepareToEditText"))
    try daemon.trigger("tapTextField")
    guard case .states(let second, let change?) = await occurrences.next() else { throw Fault() }
    #expect((second.keyboard, change.event) == ("editingText", "tapTextField"))
    session.continuation.yield(false)
    #expect(await occurrences.next() == .unknown(.sessionNotInFront))
    session.continuation.yield(true)
    #expect(await occurrences.next() == .states(second, change: nil))
    daemon.kill()
    #expect(await occurrences.next() == .unknown(.noDaemon(.connectionLost)))
    try daemon.start()
    #expect(await occurrences.next() == .states(second, change: nil))
    session.continuation.finish()
    #expect(await occurrences.next() == .unknown(.sessionNotInFront), "nothing tells of a lock now")
    task.cancel()
    try await task.value
    #expect(await occurrences.next() == nil)
  }

  @Test("without a session, the daemon's states count")
  func withoutSession() async throws {
    let task = follow(nil)
    var occurrences = told.stream.makeAsyncIterator()
    guard case .states = await occurrences.next() else { throw Fault() }
    task.cancel()
    try await task.value
  }

  @Test("an error of the handler ends the following")
  func handlerFails() async throws {
    let follower = StatesFollower(
      Client(directory: daemon.folder.path), session: AsyncStream { $0.yield(true) })
    await #expect(throws: Fault.self) { try await follower.run { _ in throw Fault() } }
  }
}

private struct Fault: Error {}
