import KeyboardModes
import Linux
import Synchronization
import Terminal

/// The states and the last changes in memory that outlives the daemon, so that a restart keeps
/// them.
///
/// The states are ``KeptBytes``. The changes are records of one size, in a ring of slots after the
/// states. A commit writes its records before the states that count them, so intact states count
/// only whole records. There are twice as many slots as changes to keep: an interrupted commit
/// overwrites no record that the states before it count.
final class StateStore {
  /// What the next daemon continues from.
  struct Contents: Equatable {
    let instance: String
    let snapshot: Controller.Snapshot
    /// The last changes, in order.
    let changes: [Change]
  }

  /// The states, as they are stored. The awaited releases follow them.
  private struct States: BitwiseCopyable {
    let instance: StoredName
    let sequence: Int64
    /// How many records were ever written, which is also the number of the last one.
    let written: Int64
    let shift, keyboard: StoredName
    let shiftSince, keyboardSince, pressed: StoredTime
    let caps, num: StoredLock
  }

  /// A release that is awaited, as it is stored.
  private struct Release: BitwiseCopyable {
    static let size = MemoryLayout<Release>.stride

    let key: Int64
    let event: StoredName

    var awaited: AwaitedRelease? {
      guard let key = KeyCode(key), let event = event.text else { return nil }
      return AwaitedRelease(key: key, event: event)
    }
  }

  /// A change, as it is stored.
  private struct Record: BitwiseCopyable {
    let sequence, time: Int64
    let machine, from, to, event: StoredName
    /// Of all fields before it.
    var checksum: UInt64 = 0

    var sum: UInt64 {
      withUnsafeBytes(of: self) { Checksum.of(UnsafeRawBufferPointer(rebasing: $0.dropLast(8))) }
    }
  }

  /// The version of the states and the records; must change if a field of either does.
  static let layout: UInt64 = 0x6b65_796d_6f64_0004

  /// How many awaited releases are kept. More are hardly ever awaited at once.
  private static let mostReleases = 6

  /// The size of the part before the records, in bytes.
  static let statesSize = KeptBytes.size(
    for: MemoryLayout<States>.stride + mostReleases * Release.size)

  /// How many changes are kept.
  static let capacity = ChangeRing.usualCapacity

  /// The size of the memory in bytes.
  static func size(capacity: Int) -> Int { statesSize + 2 * capacity * MemoryLayout<Record>.size }

  private let memory: SharedMemory
  private let capacity: Int
  private var states: KeptBytes
  /// See ``States/written``.
  private var written: Int64 = 0
  /// The states that were written last, whose memory the next ones use again.
  private var bytes: [UInt8] = []

  /// A store in `memory`, whose size must be ``size(capacity:)``.
  init(_ memory: SharedMemory, capacity: Int = StateStore.capacity) {
    precondition(memory.bytes.count == Self.size(capacity: capacity), "memory of another size")
    (self.memory, self.capacity) = (memory, capacity)
    states = KeptBytes(memory, 0..<Self.statesSize, layout: Self.layout)
  }

  /// The last commit; `nil` if there is no valid one.
  func read() -> Contents? {
    guard let bytes = states.read(), bytes.count >= MemoryLayout<States>.stride else { return nil }
    let kept = bytes.withUnsafeBytes { $0.loadUnaligned(as: States.self) }
    guard let instance = kept.instance.text, let keyboard = kept.keyboard.text,
      0...Int64.max / 2 ~= kept.written, 0...Change.greatestSequence ~= kept.sequence
    else { return nil }
    written = kept.written
    let shifts: [ShiftRules.State] = [.off, .on(since: kept.pressed.time), .capsLock]
    guard let shift = shifts.first(where: { $0.name == kept.shift.text }) else { return nil }
    let releases = bytes.dropFirst(MemoryLayout<States>.stride).withUnsafeBytes { rest in
      stride(from: 0, through: rest.count - Release.size, by: Release.size).compactMap { offset in
        rest.loadUnaligned(fromByteOffset: offset, as: Release.self).awaited
      }
    }
    // Takes records from the last one back, up to an invalid one. The last must be valid.
    let last = kept.sequence
    var changes: [Change] = []
    while changes.count < min(last, Int64(capacity)),
      let change = change(last - Int64(changes.count), at: written - Int64(changes.count))
    {
      changes.append(change)
    }
    guard last == 0 || !changes.isEmpty else { return nil }
    let snapshot = Controller.Snapshot(
      sequence: last, shift: shift, shiftSince: kept.shiftSince.time, keyboard: keyboard,
      keyboardSince: kept.keyboardSince.time,
      locks: LockStates(caps: kept.caps.state, num: kept.num.state),
      awaitedReleases: releases)
    return Contents(instance: instance, snapshot: snapshot, changes: changes.reversed())
  }

  /// Adds changes, and the states that they led to. They are kept once this returns.
  ///
  /// - Parameter changes: the changes in order, at most `capacity`.
  func commit(_ changes: some Sequence<Change>, _ snapshot: Controller.Snapshot, instance: String) {
    for change in changes {
      written += 1
      write(change, at: written)
    }
    // The states come last: they must not count records that are not written yet.
    atomicMemoryFence(ordering: .releasing)
    let modes = snapshot.modes
    var pressed: Time?
    if case .on(let since) = snapshot.shift { pressed = since }
    bytes.removeAll(keepingCapacity: true)
    bytes.append(
      bytesOf: States(
        instance: StoredName(instance), sequence: modes.sequence, written: written,
        shift: StoredName(modes.shift), keyboard: StoredName(modes.keyboard),
        shiftSince: StoredTime(modes.shiftSince), keyboardSince: StoredTime(modes.keyboardSince),
        pressed: StoredTime(pressed), caps: StoredLock(modes.locks[.caps]),
        num: StoredLock(modes.locks[.num])))
    for release in snapshot.awaitedReleases.prefix(Self.mostReleases) {
      bytes.append(
        bytesOf: Release(key: Int64(release.key.number), event: StoredName(release.event)))
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

/// A name of at most ``KeyboardTable/longestName`` bytes, zeros after it. A longer one is cut; a
/// table has none.
private struct StoredName: BitwiseCopyable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init(_ name: String) {
    var name = name
    name.withUTF8 { utf8 in
      withUnsafeMutableBytes(of: &words) { words in
        words.copyBytes(
          from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(utf8).prefix(words.count)))
      }
    }
  }

  var text: String? {
    withUnsafeBytes(of: words) { bytes in
      String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

/// A time, or none.
private struct StoredTime: BitwiseCopyable {
  private let microseconds: Int64

  init(_ time: Time?) { microseconds = time?.microseconds ?? .min }

  var time: Time? { microseconds == .min ? nil : Time(microseconds: microseconds) }
}

/// The state of a lock.
private struct StoredLock: BitwiseCopyable {
  private let number: Int64

  init(_ state: LockRules.State) {
    switch state {
    case .unknown: number = 0
    case .off: number = 1
    case .on: number = 2
    }
  }

  var state: LockRules.State { number == 1 ? .off : number == 2 ? .on : .unknown }
}

extension [UInt8] {
  fileprivate mutating func append(bytesOf value: some BitwiseCopyable) {
    Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
  }
}
