import Foundation
import KeyboardModes
import Linux
import Terminal
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("State store")
struct StateStoreTests {
  private static let capacity = 8
  private let size = StateStore.size(capacity: capacity)
  private let instance = "0123456789abcdef0123456789abcdef"

  private func memory() throws -> SharedMemory { try SharedMemory(name: "test", size: size) }

  private func store(_ memory: SharedMemory) -> StateStore {
    StateStore(memory, capacity: Self.capacity)
  }

  private func change(_ sequence: Int64) -> Change {
    Change(
      sequence: sequence, time: Time(microseconds: sequence * 1000), machine: .keyboard,
      from: "prepareToEditText", to: "prepareToRecord", event: "clickSwitchButton")
  }

  private func snapshot(_ sequence: Int64) -> Controller.Snapshot {
    Controller.Snapshot(
      sequence: sequence, shift: .on(since: sequence % 2 == 0 ? nil : Time(microseconds: sequence)),
      shiftSince: Time(microseconds: -sequence), keyboard: "showingPanel", keyboardSince: nil,
      locks: LockStates(caps: sequence % 3 == 0 ? .on : .off, num: .unknown))
  }

  private func contents(_ sequence: Int64, _ changes: ClosedRange<Int64>) -> StateStore.Contents {
    .init(instance: instance, snapshot: snapshot(sequence), changes: changes.map(change))
  }

  @Test("a second store on the same memory reads the last commit")
  func committed() throws {
    let memory = try memory()
    let writer = store(memory)
    #expect(writer.read() == nil, "it is new")
    writer.commit([], snapshot(0), instance: instance)
    #expect(store(memory).read() == .init(instance: instance, snapshot: snapshot(0), changes: []))
    for sequence in Int64(1)...30 {
      writer.commit([change(sequence)], snapshot(sequence), instance: instance)
      let first = max(1, sequence - Int64(Self.capacity) + 1)
      #expect(store(memory).read() == contents(sequence, first...sequence))
    }
    let next = store(memory)
    _ = next.read()
    next.commit((31...33).map(change), snapshot(33), instance: instance)
    #expect(store(memory).read() == contents(33, 26...33))
  }

  @Test(
    "after an interrupted commit of one or many changes, the previous commit is read",
    arguments: [1, 2, capacity - 1, capacity, 100, 1000])
  func tornBatch(_ count: Int) throws {
    let (memory, copy) = (try memory(), try memory())
    let writer = store(memory)
    for sequence in Int64(1)...20 {
      writer.commit([change(sequence)], snapshot(sequence), instance: instance)
    }
    let before = Array(memory.bytes)
    let last = 20 + Int64(count)
    let first = max(21, last - Int64(Self.capacity) + 1)
    writer.commit((first...last).map(change), snapshot(last), instance: instance)
    let after = Array(memory.bytes)
    // All records are written, and the states are not.
    copy.bytes.copyBytes(from: before)
    let states = StateStore.statesSize
    for index in before.indices where index >= states { copy.bytes[index] = after[index] }
    #expect(store(copy).read() == contents(20, 13...20))
    copy.bytes.copyBytes(from: after)
    let kept = min(last, Int64(Self.capacity))
    // A batch longer than the capacity leaves none of the earlier changes.
    let oldest = count > Self.capacity ? first : last - kept + 1
    #expect(store(copy).read() == contents(last, oldest...last))
  }

  @Test(
    "a corrupt store reads as an intact commit or as empty, and never traps", arguments: 0..<200)
  func corrupt(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let memory = try memory()
    let writer = store(memory)
    for sequence in Int64(1)...5 {
      writer.commit([change(sequence)], snapshot(sequence), instance: instance)
    }
    for _ in 0..<Int.random(in: 1...40, using: &generator) {
      let place = Int.random(in: 0..<size, using: &generator)
      memory.bytes[place] = .random(in: 0...255, using: &generator)
    }
    guard let read = store(memory).read() else { return }
    #expect([4, 5].contains(read.snapshot.modes.sequence))
    #expect(read.snapshot == snapshot(read.snapshot.modes.sequence))
    #expect(read.changes == read.changes.map { change($0.sequence) })
    #expect(read.changes.last?.sequence == read.snapshot.modes.sequence)
  }

  @Test(
    "a sequence is read up to 2^53",
    arguments: [
      (1 << 53, true), ((1 << 53) + 1, false), (.max - 1, false), (.max, false),
    ] as [(Int64, Bool)])
  func last(_ sequence: Int64, _ isThere: Bool) throws {
    let memory = try memory()
    let writer = store(memory)
    for sequence in [sequence - 1, sequence] {
      let change = Change(
        sequence: sequence, time: Time(microseconds: 0), machine: .shift, from: "off", to: "on",
        event: "shiftPressed")
      writer.commit([change], snapshot(sequence), instance: instance)
    }
    let next = store(memory)
    #expect(next.read()?.snapshot == (isThere ? snapshot(sequence) : nil))
    next.commit([], snapshot(0), instance: instance)
    #expect(store(memory).read()?.snapshot == snapshot(0), "anew")
  }

  /// A snapshot with so many awaited releases.
  private func snapshot(awaiting count: Int) -> Controller.Snapshot {
    var awaiting = snapshot(1)
    awaiting.awaitedReleases = (0..<count).compactMap { number in
      // Names of the greatest length, so that the states are as long as they can be.
      KeyCode(number + 500).map {
        AwaitedRelease(key: $0, event: String(repeating: "e", count: KeyboardTable.longestName))
      }
    }
    return awaiting
  }

  @Test("there is room for the longest names")
  func longestNames() throws {
    let memory = try memory()
    let name = String(repeating: "n", count: KeyboardTable.longestName)
    let changes = (Int64(1)...Int64(Self.capacity)).map {
      Change(
        sequence: $0, time: Time(microseconds: $0), machine: .keyboard, from: name, to: name,
        event: name)
    }
    var snapshot = Controller.Snapshot(
      sequence: Int64(Self.capacity), shift: .on(since: nil), shiftSince: nil, keyboard: name,
      keyboardSince: nil)
    snapshot.awaitedReleases = self.snapshot(awaiting: 6).awaitedReleases
    for _ in 0..<2 {
      // In both copies of the states, and in every slot.
      store(memory).commit(changes, snapshot, instance: instance)
      let kept = store(memory).read()
      #expect(kept == .init(instance: instance, snapshot: snapshot, changes: changes))
    }
  }

  @Test("awaited releases are kept, up to six", arguments: 0...8)
  func awaitedReleases(_ count: Int) throws {
    let memory = try memory()
    store(memory).commit([change(1)], snapshot(awaiting: count), instance: instance)
    #expect(store(memory).read()?.snapshot == snapshot(awaiting: min(count, 6)))
    #expect(snapshot(awaiting: count).awaitedReleases.count == count)
  }

  @Test("memory is adopted only if it has the right size")
  func adopted() throws {
    let memory = try memory()
    func copy() throws -> FileDescriptor {
      try FileDescriptor.opening("/proc/self/fd/\(memory.descriptor)", flags: 2)
    }
    store(memory).commit([change(1)], snapshot(1), instance: instance)
    let adopted = try #require(SharedMemory(adopting: try copy(), size: size))
    #expect(store(adopted).read() == contents(1, 1...1))
    #expect(SharedMemory(adopting: try copy(), size: size + 1) == nil)
  }
}

@Suite("Service: restart")
struct RestartTests {
  private let memory: SharedMemory
  private let keyboards = FakeKeyboards()

  init() throws {
    memory = try SharedMemory(name: "test", size: StateStore.size(capacity: 1024))
  }

  private func service(_ settings: Settings = Settings()) -> TestService {
    TestService(settings, keyboards, StateStore(memory))
  }

  @Test("an awaited release is kept, though its press changed no state")
  func awaitedRelease() throws {
    var settings = Settings()
    let (f9, name) = (try #require(KeyCode(67)), "tapTextField")
    let event = try #require(settings.keyboard.event(named: name))
    #expect(settings.bindings.bind(try Chord([f9]), .release, to: event) == nil)
    let service = service(settings)
    service.take([
      .key(DeviceID(order: 0), KeyEvent(time: keyboards.now, key: f9, action: .press))
    ])
    #expect(service.controller.snapshot.awaitedReleases == [.init(key: f9, event: name)])
    #expect(StateStore(memory).read()?.snapshot == service.controller.snapshot)
  }

  @Test("a restarted service has the states, changes and instance of the one before")
  func restart() throws {
    var first: TestService? = service()
    var changed = 0
    for event in ["shiftPressed", "tapTextField", "characterTyped", "clickMoreButton"] {
      let event = try #require(ClientEvent(name: event))
      let batch = Batch([.client(event, at: keyboards.now)])
      // What the engine has taken is not published yet.
      if first?.service.engine.process(batch) == true { changed += 1 }
      let kept = StateStore(memory).read()
      #expect(kept?.snapshot == first?.controller.snapshot, "kept before it is told")
    }
    #expect(changed == 4)
    let before = try #require(first?.state())
    let changes = try first?.firstMessage(after: nil, instance: nil)
    first = nil

    let second = service()
    #expect(second.state() == before)
    let instance = before.instance
    let all = try second.firstMessage(after: 0, instance: instance)
    #expect(
      all.changes.map(\.event) == [
        "shiftPressed", "tapTextField", "characterTyped", "clickMoreButton",
      ])
    #expect(all.missed == 0)
    #expect(changes?.state == all.state)
    try second.trigger("shiftPressed")
    let later = try second.firstMessage(after: 4, instance: instance)
    #expect(later.changes.map(\.sequence) == [5])
  }

  @Test("a restart with a table that lacks the present state acts like a reload")
  func otherTable() throws {
    var first: TestService? = service()
    for event in ["tapTextField", "shiftPressed"] { try first?.trigger(event) }
    let instance = first?.state().instance
    first = nil

    keyboards.now = Time(microseconds: 9_000_000)
    let talking = KeyboardTable(
      try .init(
        states: ["idle", "talking"], initial: "idle", events: ["talk"],
        rows: [.init("idle", "talk", "talking")]))
    let second = service(
      Settings(shift: ShiftRules(timeout: .seconds(3)), keyboard: talking))
    #expect(second.state().instance == instance)
    let kept = try #require(StateStore(memory).read())
    #expect(kept.snapshot == second.controller.snapshot)
    #expect(
      kept.changes.suffix(2) == [
        Change(
          sequence: 3, time: Time(microseconds: 3_000_000), machine: .shift, from: "on", to: "off",
          event: "timedOut"),
        Change(
          sequence: 4, time: Time(microseconds: 9_000_000), machine: .keyboard,
          from: "editingText", to: "idle", event: "configured"),
      ])
  }
}
