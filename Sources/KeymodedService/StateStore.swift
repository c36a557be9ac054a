import KeyboardModes
import Synchronization
import SystemCalls

/// The states and the last changes in memory that outlives the daemon, so that a restart keeps
/// them.
///
/// There are two headers with checksums; each commit overwrites the older one. If a daemon is
/// killed during a commit, the other header is intact. The changes are records of one size, which
/// fill the slots in turn. A commit writes its records before the header that counts them, so
/// everything that an intact header counts is there. There are twice as many slots as changes to
/// keep: an interrupted commit overwrites no record that the previous header counts.
final class StateStore {
  /// What the next daemon continues from.
  struct Contents: Equatable {
    let instance: String
    let snapshot: Controller.Snapshot
    /// The last changes, in order.
    let changes: [Change]
  }

  private struct Header {
    let generation: UInt64
    let instance: String
    let snapshot: Controller.Snapshot
    /// How many records were ever written; the last one is in the slot before this count.
    let written: UInt64
  }

  /// The first field of a header. Another division of the memory needs another number.
  private static let layout: UInt64 = 0x6b65_796d_6f64_0001

  /// Room for the longest fields that ``commit(_:_:instance:)`` puts: nine numbers with the checksum,
  /// the instance and the two states, and the releases. A whole number of cache lines.
  private static let headerSize: Int = {
    let release = StoredFields.numberSize + StoredFields.size()
    let size =
      9 * StoredFields.numberSize + 3 * StoredFields.size() + StoredFields.mostReleases * release
    return (size + 63) & ~63
  }()

  /// Room for the longest fields that ``write(_:at:)`` puts: three numbers with the checksum, the
  /// machine, two states and an event.
  private static let recordSize: Int = {
    let machine = Machine.allCases.map(\.rawValue.utf8.count).max() ?? 0
    return 3 * StoredFields.numberSize + StoredFields.size(ofName: machine)
      + 3 * StoredFields.size()
  }()

  /// How many changes are kept.
  static let capacity = ChangeRing.usualCapacity

  /// The size of the memory in bytes.
  static func size(capacity: Int) -> Int { 2 * headerSize + 2 * capacity * recordSize }

  private let memory: SharedMemory
  private let capacity: Int
  private var generation: UInt64 = 0
  private var written: UInt64 = 0

  /// A store in memory of the right size.
  init(_ memory: SharedMemory, capacity: Int = StateStore.capacity) {
    precondition(memory.bytes.count == Self.size(capacity: capacity), "memory of another size")
    (self.memory, self.capacity) = (memory, capacity)
  }

  /// The last commit; `nil` if there is no valid one.
  func read() -> Contents? {
    let headers = [0, 1].compactMap { readHeader($0) }
    // Generations wrap around: of the two, the newer one is less than half the range ahead.
    let newest = headers.max { Int64(bitPattern: $0.generation &- $1.generation) < 0 }
    guard let newest else { return nil }
    // The next commit has the generation after this one, even if this one counts nothing valid.
    generation = newest.generation
    written = newest.written
    let sequence = newest.snapshot.modes.sequence
    guard 0...Change.greatestSequence ~= sequence else { return nil }
    // Valid records count, from the last one back. Without the last one, the commit is invalid.
    var changes: [Change] = []
    while changes.count < min(sequence, Int64(capacity)),
      let change = readChange(sequence - Int64(changes.count), at: written &- UInt64(changes.count))
    {
      changes.append(change)
    }
    guard sequence == 0 || !changes.isEmpty else { return nil }
    return Contents(
      instance: newest.instance, snapshot: newest.snapshot, changes: changes.reversed())
  }

  /// Adds changes, and the states that they led to. They are kept once this returns.
  ///
  /// - Parameter changes: the changes in order, at most as many as are kept.
  func commit(_ changes: some Sequence<Change>, _ snapshot: Controller.Snapshot, instance: String) {
    for change in changes {
      written &+= 1
      write(change, at: written)
    }
    // The header comes last: it must not count records that are not written yet.
    atomicMemoryFence(ordering: .releasing)
    generation &+= 1
    var fields = fields(ofHeader: Int(generation % 2))
    fields.put(Self.layout)
    fields.put(generation)
    fields.put(instance)
    fields.put(snapshot)
    fields.put(written)
    fields.put(snapshot.awaitedReleases)
    fields.putChecksum()
  }

  private func readHeader(_ index: Int) -> Header? {
    var fields = fields(ofHeader: index)
    guard fields.takeNumber() == Self.layout, let generation = fields.takeNumber(),
      let instance = fields.takeText(), var snapshot = fields.takeSnapshot(),
      let written = fields.takeNumber(), let awaited = fields.takeAwaitedReleases(),
      fields.isWhole()
    else { return nil }
    snapshot.awaitedReleases = awaited
    return Header(generation: generation, instance: instance, snapshot: snapshot, written: written)
  }

  private func write(_ change: Change, at number: UInt64) {
    var fields = fields(ofRecord: number)
    fields.put(UInt64(bitPattern: change.sequence))
    fields.put(UInt64(bitPattern: change.time.microseconds))
    for text in [change.machine.rawValue, change.from, change.to, change.event] { fields.put(text) }
    fields.putChecksum()
  }

  private func readChange(_ sequence: Int64, at number: UInt64) -> Change? {
    var fields = fields(ofRecord: number)
    guard fields.takeNumber() == UInt64(bitPattern: sequence), let time = fields.takeTime(),
      let machine = fields.takeText().flatMap(Machine.init(rawValue:)),
      let from = fields.takeText(), let to = fields.takeText(), let event = fields.takeText(),
      fields.isWhole()
    else { return nil }
    return Change(
      sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }

  private func fields(ofHeader index: Int) -> StoredFields {
    StoredFields(memory.bytes[index * Self.headerSize..<(index + 1) * Self.headerSize])
  }

  /// - Parameter number: the number of the record among all that were ever written, from 1.
  private func fields(ofRecord number: UInt64) -> StoredFields {
    let slot = Int((number &- 1) % UInt64(2 * capacity))
    let start = 2 * Self.headerSize + slot * Self.recordSize
    return StoredFields(memory.bytes[start..<start + Self.recordSize])
  }
}
