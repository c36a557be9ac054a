import KeyboardModes
import Synchronization
import SystemCalls

/// The states and the last changes in memory that outlives the daemon, so that a restart is no reset.
///
/// There are two headers, and the older one is written anew with each commit. A daemon that is killed
/// in between leaves the other, which is whole; checksums tell. The changes are records of one size in
/// slots that are used in turn, written before the header that counts them. So what a header says is
/// there, is there. There are twice as many slots as changes are kept: a commit that is cut off has
/// overwritten none that the header before counts.
final class StateStore {
  /// What a daemon goes on from.
  struct Contents: Equatable {
    let instance: String
    let snapshot: Controller.Snapshot
    /// The last changes, in order.
    let changes: [Change]
  }

  /// How the memory is divided, by its version.
  private enum Layout: UInt64 {
    /// That of 0.1.0: a slot for each change that is kept, and the slot follows from its number.
    case first = 0x6b65_796d_6f64_0001
    /// That which is written.
    case second = 0x6b65_796d_6f64_0002

    func slots(for capacity: Int) -> Int { self == .first ? capacity : 2 * capacity }

    func size(for capacity: Int) -> Int { 2 * headerSize + slots(for: capacity) * recordSize }
  }

  private struct Header {
    let generation: UInt64
    let instance: String
    let snapshot: Controller.Snapshot
    /// How many changes were ever written, so that the last one is in the slot before this one.
    let written: UInt64
  }

  private static let headerSize = 512
  private static let recordSize = 160

  /// No daemon has ever counted so far. A larger number would overflow some day.
  static let mostCounted: Int64 = 1 << 53

  /// How many changes the daemon keeps.
  static let capacity = ChangeRing.usualCapacity

  /// How many bytes the memory has.
  static func size(capacity: Int) -> Int { Layout.second.size(for: capacity) }

  /// How many bytes the memory of version 0.1.0 has.
  static func sizeOfFirstLayout(capacity: Int) -> Int { Layout.first.size(for: capacity) }

  private let memory: SharedMemory
  private let capacity: Int
  private let layout: Layout
  private var generation: UInt64 = 0
  private var written: UInt64 = 0

  /// A store in memory of the right size.
  convenience init(_ memory: SharedMemory, capacity: Int = StateStore.capacity) {
    self.init(memory, capacity: capacity, .second)
  }

  private init(_ memory: SharedMemory, capacity: Int, _ layout: Layout) {
    precondition(memory.bytes.count == layout.size(for: capacity), "memory of another size")
    self.memory = memory
    self.capacity = capacity
    self.layout = layout
  }

  /// A store that goes on from what a daemon of version 0.1.0 committed.
  ///
  /// - Parameter former: that daemon's memory, which stays as it is.
  /// - Returns: `nil` where that has nothing that makes sense.
  convenience init?(
    _ memory: SharedMemory, migrating former: SharedMemory, capacity: Int = StateStore.capacity
  ) {
    self.init(memory, capacity: capacity)
    let former = StateStore(former, capacity: capacity, .first)
    guard let contents = former.read() else { return nil }
    commit(contents.changes, contents.snapshot, instance: contents.instance)
  }

  /// What was committed last, or `nil` where there is nothing that makes sense.
  func read() -> Contents? {
    let headers = [0, 1].compactMap { readHeader($0) }
    // Generations come round again: of two, the newer one is less than half of all ahead.
    let newest = headers.max { Int64(bitPattern: $0.generation &- $1.generation) < 0 }
    guard let newest else { return nil }
    // Whatever is in it, the next one comes after it.
    generation = newest.generation
    written = newest.written
    let sequence = newest.snapshot.modes.sequence
    guard 0...Self.mostCounted ~= sequence else { return nil }
    // What is whole counts, from the last one back; without the last one nothing does.
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

  /// Adds changes, and the states that they led to. When this returns, they are there for good.
  ///
  /// - Parameter changes: in order, and no more than are kept.
  func commit(_ changes: some Sequence<Change>, _ snapshot: Controller.Snapshot, instance: String) {
    for change in changes {
      written &+= 1
      write(change, at: written)
    }
    // The header must not be there before what it counts.
    atomicMemoryFence(ordering: .releasing)
    generation &+= 1
    var fields = StoredFields(bytes(header: Int(generation % 2)))
    fields.put(layout.rawValue)
    fields.put(generation)
    fields.put(instance)
    fields.put(snapshot)
    fields.put(written)
    fields.putChecksum()
  }

  private func readHeader(_ index: Int) -> Header? {
    var fields = StoredFields(bytes(header: index))
    guard fields.takeNumber() == layout.rawValue, let generation = fields.takeNumber(),
      let instance = fields.takeText(), let snapshot = fields.takeSnapshot(),
      let written = layout == .first
        ? UInt64(bitPattern: snapshot.modes.sequence) : fields.takeNumber(),
      fields.isWhole()
    else { return nil }
    return Header(
      generation: generation, instance: instance, snapshot: snapshot, written: written)
  }

  private func write(_ change: Change, at number: UInt64) {
    var fields = StoredFields(bytes(record: number))
    fields.put(UInt64(bitPattern: change.sequence))
    fields.put(UInt64(bitPattern: change.time.microseconds))
    for text in [change.machine.rawValue, change.from, change.to, change.event] { fields.put(text) }
    fields.putChecksum()
  }

  private func readChange(_ sequence: Int64, at number: UInt64) -> Change? {
    var fields = StoredFields(bytes(record: number))
    guard fields.takeNumber() == UInt64(bitPattern: sequence), let time = fields.takeTime(),
      let machine = fields.takeText().flatMap(Machine.init(rawValue:)),
      let from = fields.takeText(), let to = fields.takeText(), let event = fields.takeText(),
      fields.isWhole()
    else { return nil }
    return Change(
      sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }

  private func bytes(header index: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      rebasing: memory.bytes[index * Self.headerSize..<(index + 1) * Self.headerSize])
  }

  /// - Parameter number: which of all records ever written it is, from 1.
  private func bytes(record number: UInt64) -> UnsafeMutableRawBufferPointer {
    let slot = Int((number &- 1) % UInt64(layout.slots(for: capacity)))
    let start = 2 * Self.headerSize + slot * Self.recordSize
    return UnsafeMutableRawBufferPointer(
      rebasing: memory.bytes[start..<start + Self.recordSize])
  }
}
