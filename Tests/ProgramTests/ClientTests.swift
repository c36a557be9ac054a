import Foundation
import KeymodeClient
import TestSupport
import Testing
import Wire

/// A subscription, which a test reads update by update.
private struct Follower {
  private var iterator: Changes.Iterator

  init(_ client: Client) { iterator = client.changes.makeAsyncIterator() }

  mutating func next() async throws -> Update { try #require(try await iterator.next()) }

  /// The next update, which must be states.
  mutating func states() async throws -> StateMessage {
    let update = try await next()
    guard case .states(let state) = update else { throw Unexpected(update: update) }
    return state
  }

  /// The sequences of the next changes, and the first update after them.
  mutating func changes() async throws -> (numbers: [Int64], then: Update) {
    var numbers: [Int64] = []
    while true {
      let update = try await next()
      guard case .change(let change) = update else { return (numbers, update) }
      numbers.append(change.sequence)
    }
  }
}

private struct Unexpected: Error { let update: Update }

@Suite("KeymodeClient", .timeLimit(.minutes(10)))
struct ClientTests {
  @Test("a subscription resumes after a restart, with the changes in between")
  func resume() async throws {
    let daemon = try RunningDaemon.following()
    var follower = Follower(Client(directory: daemon.folder.path))
    let first = try await follower.states()
    try daemon.change(1)
    guard case .change = try await follower.next() else { throw Fault() }
    daemon.stop()
    #expect(try await follower.next() == .disconnected(.connectionLost))
    try daemon.start()
    try daemon.change(3)
    // The client has not reconnected meanwhile: it does so when the next update is requested.
    let (numbers, then) = try await follower.changes()
    #expect(numbers == [2, 3, 4])
    guard case .states(let state) = then else { throw Unexpected(update: then) }
    #expect(state.instance == first.instance)
    #expect(state.states.sequence == 4)
    try daemon.change(1)
    guard case .change(let fifth) = try await follower.next() else { throw Fault() }
    #expect(fifth.sequence == 5)
  }

  @Test("a subscription that was disconnected too long yields how many changes it missed")
  func tooLong() async throws {
    let daemon = try RunningDaemon.following()
    var follower = Follower(Client(directory: daemon.folder.path))
    _ = try await follower.states()
    daemon.stop()
    #expect(try await follower.next() == .disconnected(.connectionLost))
    try daemon.start()
    try daemon.change(1025)
    #expect(try await follower.next() == .missed(1025))
    #expect(try await follower.states().states.sequence == 1025)
  }

  @Test("a daemon without its old states makes the number of missed changes unknown")
  func forgotten() async throws {
    let daemon = try RunningDaemon.following()
    var follower = Follower(Client(directory: daemon.folder.path))
    let first = try await follower.states()
    try daemon.change(1)
    guard case .change = try await follower.next() else { throw Fault() }
    daemon.stop()
    daemon.forget()
    try daemon.start()
    #expect(try await follower.next() == .disconnected(.connectionLost))
    #expect(try await follower.next() == .missed(nil))
    let state = try await follower.states()
    #expect(state.instance != first.instance)
    #expect((state.states.sequence, state.states.shift) == (0, "off"))
  }

  @Test("a subscription buffers nothing, and yields or counts every change")
  func backPressure() async throws {
    let daemon = try RunningDaemon.following()
    var follower = Follower(Client(directory: daemon.folder.path))
    _ = try await follower.states()
    let count: Int64 = 4000
    try daemon.change(Int(count))
    var (told, missed): (Int64, Int64) = (0, 0)
    while told + missed < count {
      switch try await follower.next() {
      case .change(let change):
        told += 1
        #expect(change.sequence == told + missed)
      case .missed(let number):
        missed += try #require(number)
        #expect(try await follower.states().states.sequence == told + missed)
      case let other: throw Unexpected(update: other)
      }
    }
    #expect(told + missed == count)
    #expect(missed > 0, "the kernel cannot have held them all: \(told)")
    #expect(told > 0)
  }

  @Test("a subscription waits for a folder that does not exist yet")
  func appearance() async throws {
    let outer = try TemporaryFolder()
    let folder = "\(outer.path)/a/b"
    var follower = Follower(Client(directory: folder))
    #expect(
      try await follower.next() == .disconnected(.noDaemon(path: "\(folder)/state.sock")))
    async let state = follower.states()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let server = try ScriptedDaemon(in: folder, ScriptedDaemon.answers, staysAfterMonitor: true)
    #expect(try await state.instance == "i")
    withExtendedLifetime(server) {}
  }

  @Test("a subscription retries if no process listens on the socket")
  func refusal() async throws {
    let folder = try TemporaryFolder()
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let path = "\(folder.path)/state.sock"
    try #require(withSocketAddress(path) { bind(listener, $0, $1) } == 0)
    var follower = Follower(Client(directory: folder.path))
    #expect(try await follower.next() == .disconnected(.noDaemon(path: path)))
    async let state = follower.states()
    // The test cannot observe when the client retries.
    try #require(listen(listener, 1) == 0)
    let server = ScriptedDaemon(listeningOn: listener, ScriptedDaemon.answers)
    #expect(try await state.instance == "i")
    withExtendedLifetime(server) {}
  }

  @Test("a subscription tries often while the daemon is away for a short time")
  func attempts() throws {
    let folder = try TemporaryFolder()
    let subscription = try Subscription(to: folder.path)
    let start = ContinuousClock.now
    var attempts = 0
    while ContinuousClock.now - start < .seconds(2) {
      try awaitInput(subscription.descriptor, "an attempt")
      _ = try subscription.advance()
      attempts += 1
    }
    // Waits that are each twice as long would make eight.
    #expect(attempts > 10)
  }

  @Test("a cancelled subscription ends at once and closes its connection")
  func cancellation() async throws {
    let folder = try TemporaryFolder()
    let server = try ScriptedDaemon(
      in: folder.path, ScriptedDaemon.answers, staysAfterMonitor: true)
    let client = Client(directory: folder.path)
    let (seen, told) = AsyncStream.makeStream(of: Update.self)
    let task = Task {
      for try await update in client.changes { told.yield(update) }
      told.finish()
    }
    var updates = seen.makeAsyncIterator()
    guard case .states = await updates.next() else { throw Fault() }
    task.cancel()
    try await task.value
    #expect(await updates.next() == nil)
    try await onThread { try wait(for: "the end of the connection") { server.ends == 1 } }

    let absent = Client(directory: "\(folder.path)/nowhere")
    let waiting = Task {
      var updates: [Update] = []
      for try await update in absent.changes { updates.append(update) }
      return updates.count
    }
    waiting.cancel()
    #expect(try await waiting.value <= 1)
  }

  @Test("what has ended with an error is not ready any more, and tells first what was before")
  func ended() throws {
    let folder = try TemporaryFolder()
    let garbage = ["Monitor": (ScriptedDaemon.answers["Monitor"] ?? []) + ["{"], "GetState": ["{"]]
    let daemon = try ScriptedDaemon(in: folder.path, garbage, staysAfterMonitor: true)
    func isReady(_ descriptor: Int32) -> Bool {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&entry, 1, 0) > 0
    }
    let subscription = try Subscription(to: folder.path)
    var updates: [Update] = []
    #expect(throws: ClientError.self) {
      while true {
        try awaitInput(subscription.descriptor, "an update")
        updates += try subscription.advance()
      }
    }
    #expect(updates.count == 1)
    #expect(!isReady(subscription.descriptor))
    let answer = try PendingAnswer(to: .state, in: folder.path, until: .now + .seconds(60))
    #expect(throws: ClientError.self) { _ = try answer.wait() }
    #expect(!isReady(answer.descriptor))
    withExtendedLifetime(daemon) {}
  }

  @Test("a client asks, and sends events")
  func calls() async throws {
    let daemon = try RunningDaemon.following()
    let client = Client(directory: daemon.folder.path)
    #expect(try await client.state().states.keyboard == "prepareToEditText")
    #expect(
      try await client.machines().map(\.initial) == [
        "off", "prepareToEditText", "unknown", "unknown",
      ])
    let first = try await client.trigger("tapTextField")
    #expect((first.changed, first.state.states.keyboard) == (true, "editingText"))
    #expect(try await client.trigger("tapTextField").changed == false)
    await #expect {
      try await client.trigger("tapNothing")
    } throws: { error in
      guard case .refused("org.varlink.service.InvalidParameter", _)? = error as? ClientError
      else { return false }
      return true
    }
    daemon.stop()
    let path = "\(daemon.folder.path)/state.sock"
    await #expect(throws: ClientError.noDaemon(path: path)) { try await client.state() }
  }
}

private struct Fault: Error {}

/// Runs a blocking function on a thread of its own, where it blocks no task.
private func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Swift.Result(catching: body)) }.start()
  }
}
