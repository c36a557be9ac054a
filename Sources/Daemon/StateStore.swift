import KeyboardModes
import Linux
import Synchronization
import Terminal
import Wire

/// The states and the last changes in memory that outlives the daemon, so that a restart keeps
/// them.
///
/// The states are ``KeptBytes``. The changes are records of one size, which fill the slots behind them
/// in turn. A commit writes its records before the states that count them, so everything that intact
/// states count is there. There are twice as many slots as changes to keep: an interrupted commit
/// overwrites no record that the states before it count.
final class StateStore {
  /// What the next daemon continues from.
  struct Contents: Equatable {
    let instance: String
    let snapshot: Controller.Snapshot
    /// The last changes, in order.
    let changes: [Change]
  }

  /// A change, as it is stored.
  private struct Record: BitwiseCopyable {
    let sequence, time: Int64
    let machine, from, to, event: StoredName
    /// Of all fields before it.
    var checksum: UInt64 = 0

    var sum: UInt64 { withUnsafeBytes(of: self) { Checksum.of($0.dropLast(8)) } }
  }

  /// How many awaited releases are kept. More keys with one are hardly ever down at once.
  private static let mostReleases = 6

  /// The size of the part before the records, in bytes. States are shorter, whatever the names in them.
  static let statesSize = KeptBytes.size(for: 3072)

  /// How many changes are kept.
  static let capacity = ChangeRing.usualCapacity

  /// The size of the memory in bytes.
  static func size(capacity: Int) -> Int { statesSize + 2 * capacity * MemoryLayout<Record>.size }

  private let memory: SharedMemory
  private let capacity: Int
  private var states: KeptBytes
  /// How many records were ever written; the last one is in the slot before this count.
  private var written: Int64 = 0

  /// A store in memory that must have the size of this `capacity`.
  init(_ memory: SharedMemory, capacity: Int = StateStore.capacity) {
    precondition(memory.bytes.count == Self.size(capacity: capacity), "memory of another size")
    (self.memory, self.capacity) = (memory, capacity)
    states = KeptBytes(memory, 0..<Self.statesSize)
  }

  /// The last commit; `nil` if there is no valid one.
  func read() -> Contents? {
    guard let bytes = states.read(), let kept = try? JSON(parsing: bytes),
      let state = kept["state"].flatMap(StateMessage.init),
      let releases = kept["awaitedReleases"]?.elements(AwaitedRelease.init),
      let written = kept["written"]?.integer, 0...Int64.max / 2 ~= written,
      0...Change.greatestSequence ~= state.modes.sequence
    else { return nil }
    self.written = written
    let pressed = kept["pressed"]?.integer.map { Time(microseconds: $0) }
    let names = [state.instance, state.modes.keyboard] + releases.map(\.event)
    guard names.allSatisfy({ $0.utf8.count <= KeyboardTable.longestName }) else { return nil }
    let shifts: [ShiftRules.State] = [.off, .on(since: pressed), .capsLock]
    guard let shift = shifts.first(where: { $0.name == state.modes.shift }) else { return nil }
    // Valid records count, from the last one back. Without the last one, the commit is invalid.
    let last = state.modes.sequence
    var changes: [Change] = []
    while changes.count < min(last, Int64(capacity)),
      let change = change(last - Int64(changes.count), at: written - Int64(changes.count))
    {
      changes.append(change)
    }
    guard last == 0 || !changes.isEmpty else { return nil }
    let snapshot = Controller.Snapshot(
      sequence: last, shift: shift, shiftSince: state.modes.shiftSince,
      keyboard: state.modes.keyboard, keyboardSince: state.modes.keyboardSince,
      awaitedReleases: releases)
    return Contents(instance: state.instance, snapshot: snapshot, changes: changes.reversed())
  }

  /// Adds changes, and the states that they led to. They are kept once this returns.
  ///
  /// - Parameter changes: the changes in order, at most as many as are kept.
  func commit(_ changes: some Sequence<Change>, _ snapshot: Controller.Snapshot, instance: String) {
    for change in changes {
      written += 1
      write(change, at: written)
    }
    // The states come last: they must not count records that are not written yet.
    atomicMemoryFence(ordering: .releasing)
    let state = StateMessage(
      instance: instance, time: Time(microseconds: 0), modes: snapshot.modes)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes.appendJSON { json in
      json.object { json in
        json.member("state", state)
        if case .on(let since) = snapshot.shift { json.member("pressed", since) }
        let releases = snapshot.awaitedReleases.prefix(Self.mostReleases).map(\.json)
        json.member("awaitedReleases", releases)
        json.member("written", written)
      }
    }
    states.write(bytes)
  }

  private func write(_ change: Change, at number: Int64) {
    var record = Record(
      sequence: change.sequence, time: change.time.microseconds,
      machine: StoredName(change.machine.rawValue), from: StoredName(change.from),
      to: StoredName(change.to), event: StoredName(change.event))
    record.checksum = record.sum
    memory.bytes.storeBytes(of: record, toByteOffset: offset(of: number), as: Record.self)
  }

  private func change(_ sequence: Int64, at number: Int64) -> Change? {
    guard number > 0 else { return nil }
    let record = memory.bytes.load(fromByteOffset: offset(of: number), as: Record.self)
    guard record.checksum == record.sum, record.sequence == sequence,
      let machine = record.machine.text.flatMap(Machine.init(rawValue:)),
      let from = record.from.text, let to = record.to.text, let event = record.event.text
    else { return nil }
    return Change(
      sequence: sequence, time: Time(microseconds: record.time), machine: machine, from: from,
      to: to, event: event)
  }

  /// - Parameter number: the number of the record among all that were ever written, from 1.
  private func offset(of number: Int64) -> Int {
    let slot = Int((number - 1) % Int64(2 * capacity))
    return Self.statesSize + slot * MemoryLayout<Record>.size
  }
}

/// A name of at most ``KeyboardTable/longestName`` bytes, zeros after it. A longer one is cut; a table
/// has none.
private struct StoredName: BitwiseCopyable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init(_ name: String) {
    withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: name.utf8.prefix($0.count)) }
  }

  var text: String? {
    withUnsafeBytes(of: words) { bytes in
      String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

extension AwaitedRelease {
  fileprivate var json: JSON { ["key": .integer(Int64(key.number)), "event": .string(event)] }

  fileprivate init?(_ json: JSON) {
    guard let key = json["key"]?.integer.flatMap({ KeyCode($0) }), let event = json["event"]?.string
    else { return nil }
    self.init(key: key, event: event)
  }
}
