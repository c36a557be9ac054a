import Foundation
import Glibc
import KeyboardModes
import System
import Terminal
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("State store")
final class StateStoreTests {
  private let file: FileDescriptor
  private let instance = "0123456789abcdef0123456789abcdef"

  init() throws { file = try .inMemory("test") }

  /// What the next daemon has of the file.
  private func store() throws -> StateStore { try StateStore(file) }

  private func contents() throws -> StateStore.Contents? { try store().contents }

  private func changes(_ numbers: ClosedRange<Int64>, named name: String = "prepareToRecord")
    -> [Change]
  {
    numbers.map {
      Change(
        sequence: $0, time: Time(microseconds: $0 * 1000), machine: .keyboard, from: name, to: name,
        event: name)
    }
  }

  /// Different in every part for each number.
  private func contents(
    _ sequence: Int64, _ changes: [Change] = [], keyboard: String = "showingPanel",
    awaiting releases: [AwaitedRelease] = []
  ) -> StateStore.Contents {
    let shifts: [ShiftRules.State] = [
      .off, .on(since: Time(microseconds: sequence)), .on(since: nil), .capsLock,
    ]
    let shift = shifts[Int(sequence % 4)]
    let states = States(
      sequence: sequence, shift: shift.name, shiftSince: Time(microseconds: -sequence),
      keyboard: keyboard, keyboardSince: nil,
      locks: LockStates(caps: sequence % 3 == 0 ? .on : .off, num: .unknown))
    return StateStore.Contents(
      state: StateMessage(
        instance: instance, time: Time(microseconds: sequence * 1000), states: states,
        shiftTrigger: .tap),
      shift: shift,
      shiftFoundTime: shift == .on(since: nil) ? Time(microseconds: sequence + 7) : nil,
      awaitedReleases: releases, changes: changes)
  }

  private func commit(_ contents: StateStore.Contents) throws {
    let message = MonitorReply(state: contents.state, changes: contents.changes, missed: 0)
    try store().commit(Reply.message(message, continues: true), contents.snapshot)
  }

  @Test("a second store on the same file has the last commit, with its changes")
  func committed() throws {
    #expect(try contents() == nil, "it is new")
    for sequence in Int64(0)...30 {
      try commit(contents(sequence))
      #expect(try contents() == contents(sequence))
      for count in 1..<max(1, min(sequence, 8)) {
        let changes = changes(sequence - count + 1...sequence)
        try commit(contents(sequence, changes))
        #expect(try contents() == contents(sequence, changes))
      }
    }
  }

  /// As many awaited releases, whose events have names of the greatest length.
  private func releases(_ count: Int) -> [AwaitedRelease] {
    (0..<count).compactMap { number in
      KeyCode(number + 500).map { AwaitedRelease(key: $0, event: longestName) }
    }
  }

  private var longestName: String { String(repeating: "n", count: CompiledTable.maxNameBytes) }

  @Test("awaited releases are kept, up to six", arguments: 0...8)
  func awaitedReleases(_ count: Int) throws {
    try commit(contents(1, awaiting: releases(count)))
    #expect(try contents() == contents(1, awaiting: releases(min(count, 6))))
  }

  @Test("the longest contents fit one page")
  func longest() throws {
    let last = Change.maxSequence
    let changes = changes(last - 7...last, named: longestName)
    try commit(contents(last, changes, keyboard: longestName, awaiting: releases(6)))
    #expect(try contents()?.changes == changes)
  }

  @Test(
    "a sequence is read up to 2^53",
    arguments: [
      (1 << 53, true), ((1 << 53) + 1, false), (.max - 1, false), (.max, false), (-1, false),
    ] as [(Int64, Bool)])
  func last(_ sequence: Int64, _ isThere: Bool) throws {
    try commit(contents(4))
    try damage("\"sequence\":4", "\"sequence\":\(sequence)")
    #expect(try contents()?.state.states.sequence == (isThere ? sequence : nil))
  }

  /// Replaces a part of what is kept, and adds `rest` behind its last NUL.
  private func damage(_ part: String, _ replacement: String, rest: String = "") throws {
    let slots = try MemorySlots(file)
    let parts = slots.bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    let text = String(decoding: parts[0] + [0] + parts[1] + [0], as: UTF8.self)
    #expect(text.contains(part), "\(text)")
    slots.replace(with: Array((text.replacingOccurrences(of: part, with: replacement) + rest).utf8))
  }

  @Test(
    "invalid contents are not read",
    arguments: [
      ("{", "["), ("\0", ""), ("\"pressed\"", "pressed"), ("\"shift\":\"on\"", "\"shift\":\"up\""),
      ("\"key\":500", "\"key\":768"), ("\"event\"", "\"name\""), ("\"changes\"", "\"change\""),
      ("\"sequence\":4,\"time\":4000,\"machine\"", "\"sequence\":3,\"time\":4000,\"machine\""),
      ("\"instance\"", "\"name\""), ("\"parameters\"", "\"error\""),
      ("\0{\"pressed\"", "\0\0{\"pressed\""),
    ])
  func invalid(_ part: String, _ replacement: String) throws {
    let whole = contents(5, changes(4...5), awaiting: releases(1))
    try commit(whole)
    #expect(try contents() == whole)
    // As if a longer text had been in the slot.
    try damage("\0", "\0", rest: "}")
    #expect(try contents() == whole)
    try damage(part, replacement, rest: "}")
    #expect(try contents() == nil)
  }
}

@Suite("Service: restart")
final class RestartTests {
  private let file: FileDescriptor
  private let keyboards = FakeKeyboards()

  init() throws { file = try .inMemory("test") }

  private func service(_ settings: Settings = Settings()) throws -> TestService {
    TestService(settings, keyboards, try StateStore(file))
  }

  private func kept() throws -> StateStore.Contents? { try StateStore(file).contents }

  @Test("an awaited release is kept, though its press changed no state")
  func awaitedRelease() throws {
    var settings = Settings()
    let (f9, name) = (try #require(KeyCode(67)), "tapTextField")
    let event = try #require(settings.keyboard.event(named: name))
    #expect(settings.bindings.bind(try Chord([f9]), .release, to: event) == nil)
    let service = try service(settings)
    service.handle([
      .key(DeviceID(order: 0), KeyEvent(time: keyboards.now, key: f9, action: .press))
    ])
    #expect(service.controller.snapshot.awaitedReleases == [.init(key: f9, event: name)])
    #expect(try kept()?.snapshot == service.controller.snapshot)
  }

  @Test("a restarted service has the states, the instance and the last change of the one before")
  func restart() throws {
    var first: TestService? = try service()
    var changed = 0
    for event in ["shiftPressed", "tapTextField", "characterTyped", "clickMoreButton"] {
      let event = try #require(ClientEvent(name: event))
      let batch = Batch([.client(event, at: keyboards.now)])
      // What the engine has handled is not published yet.
      if first?.service.engine.process(batch) == true { changed += 1 }
      let kept = try kept()
      #expect(kept?.snapshot == first?.controller.snapshot, "kept before it is told")
    }
    #expect(changed == 4)
    let before = try #require(first?.state())
    let changes = try first?.firstMessage(after: nil, instance: nil)
    first = nil

    let second = try service()
    #expect(second.state() == before)
    let instance = before.instance
    let all = try second.firstMessage(after: 3, instance: instance)
    #expect(all.changes.map(\.event) == ["clickMoreButton"])
    #expect(all.missed == 0)
    let late = try second.firstMessage(after: 1, instance: instance)
    #expect(late.changes.isEmpty)
    #expect(late.missed == 3)
    #expect(changes?.state == all.state)
    try second.trigger("shiftPressed")
    let later = try second.firstMessage(after: 4, instance: instance)
    #expect(later.changes.map(\.sequence) == [5])
  }

  @Test("the last change is kept by restarts and by commits without a change")
  func lastChange() throws {
    var settings = Settings()
    let event = try #require(settings.keyboard.event(named: "tapTextField"))
    let key = try #require(KeyCode(67))
    #expect(settings.bindings.bind(try Chord([key]), .release, to: event) == nil)
    var service = try service(settings)
    for _ in 1...3 { try service.trigger("shiftPressed") }
    let last = try kept()?.changes
    #expect(last?.map(\.sequence) == [3])
    for _ in 1...2 {
      service = try self.service(settings)
      #expect(try kept()?.changes == last)
    }
    service.handle([
      .key(DeviceID(order: 0), KeyEvent(time: keyboards.now, key: key, action: .press))
    ])
    #expect(try kept()?.snapshot.awaitedReleases.count == 1)
    #expect(try kept()?.changes == last)
  }

  @Test("the store keeps exactly the bytes that subscribers are sent")
  func sameBytes() throws {
    let service = try service()
    for event in ["shiftPressed", "tapTextField"] {
      var position = SubscriberPosition(sequence: service.controller.states.sequence)
      keyboards.now = Time(microseconds: keyboards.now.microseconds + 5)
      try service.trigger(event)
      let sent = try #require(service.publisher.next(for: &position))
      #expect(position.sequence == service.controller.states.sequence)
      #expect(service.publisher.next(for: &position) == nil)
      let slots = try MemorySlots(file)
      #expect(withExtendedLifetime(slots) { slots.bytes.starts(with: sent) })
      let message = try #require(MonitorReply(try Reply(parsing: sent.dropLast()).parameters))
      #expect(message.state == service.state())
      #expect(message.changes.map(\.event) == [event])
      #expect(message.missed == 0)
      var of = SubscriberPosition(sequence: position.sequence - 1, machines: [.shift, .keyboard])
      #expect(service.publisher.next(for: &of) == sent, "all changes are of these machines")
      var others = SubscriberPosition(sequence: position.sequence - 1, machines: [.caps])
      #expect(service.publisher.next(for: &others) == nil)
    }
  }

  @Test(
    "however many changes come at once, the last eighteen are kept", arguments: [1, 17, 18, 19, 40])
  func manyChanges(_ count: Int64) throws {
    let service = try service()
    let event = try #require(ClientEvent(name: "clickMoreButton"))
    let clicks = (0..<count).map { _ in Controller.Input.client(event, at: keyboards.now) }
    #expect(service.service.engine.process(Batch(clicks)))
    #expect(try kept()?.changes.map(\.sequence) == Array(max(1, count - 17)...count))
  }

  @Test("a restart ends `on` when it was due, though the states were kept later")
  func overdue() throws {
    let settings = Settings(shift: ShiftRules(timeout: .seconds(5)))
    keyboards.now = Time(microseconds: 0)
    let first = try service(settings)
    try first.trigger("shiftPressed")
    // As if that daemon had been killed at its start, before it ended what was due.
    keyboards.now = Time(microseconds: 12_000_000)
    _ = try service(settings)
    let second = try service(settings)
    second.awake()
    #expect(try kept()?.changes.map(\.event) == ["timedOut"])
    #expect(try kept()?.changes.map(\.time) == [Time(microseconds: 5_000_000)])
  }

  @Test("a restart with a table that lacks the present state acts like a reload")
  func otherTable() throws {
    var first: TestService? = try service()
    for event in ["tapTextField", "shiftPressed"] { try first?.trigger(event) }
    let instance = first?.state().instance
    first = nil

    keyboards.now = Time(microseconds: 9_000_000)
    let talking = CompiledTable(
      try .init(
        states: ["idle", "talking"], initial: "idle", events: ["talk"],
        rows: [.init("idle", "talk", "talking")]))
    let second = try service(
      Settings(shift: ShiftRules(timeout: .seconds(3)), keyboard: talking))
    #expect(second.state().instance == instance)
    let kept = try #require(try kept())
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
