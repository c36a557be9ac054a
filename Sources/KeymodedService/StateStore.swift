import KeyboardModes
import Synchronization
import SystemCalls

/// The states and the last changes in memory that outlives the daemon, so that a restart is no reset.
///
/// There are two headers, and the older one is written anew with each commit. A daemon that is killed
/// in between leaves the other, which is whole; checksums tell. The changes are records of one size in
/// a ring, written before the header that counts them. So what a header says is there, is there.
final class StateStore {
  /// What a daemon goes on from.
  struct Contents: Equatable {
    let instance: String
    let snapshot: Controller.Snapshot
    /// The last changes, in order.
    let changes: [Change]
  }

  private static let headerSize = 512
  private static let recordSize = 160
  private static let layout: UInt64 = 0x6b65_796d_6f64_0001

  /// No daemon has ever counted so far. With more, the next number could be one that there is not.
  static let mostCounted: Int64 = 1 << 53

  /// How many changes the daemon keeps.
  static let capacity = 1024

  /// How many bytes the memory has.
  static func size(capacity: Int) -> Int { 2 * headerSize + capacity * recordSize }

  private let memory: SharedMemory
  private let capacity: Int
  private var generation: UInt64 = 0

  /// A store in memory of the right size.
  init(_ memory: SharedMemory, capacity: Int = StateStore.capacity) {
    precondition(memory.bytes.count == Self.size(capacity: capacity), "memory of another size")
    self.memory = memory
    self.capacity = capacity
  }

  /// What was committed last, or `nil` where there is nothing that makes sense.
  func read() -> Contents? {
    let headers = [0, 1].compactMap { readHeader($0) }
    // Generations come round again: of two, the newer one is less than half of all ahead.
    let newest = headers.max { Int64(bitPattern: $0.generation &- $1.generation) < 0 }
    guard let newest else { return nil }
    // Whatever is in it, the next one comes after it.
    generation = newest.generation
    // A daemon that was killed while it wrote may have left the oldest change overwritten. What is
    // whole counts, from the last one back; without the last one nothing does.
    let sequence = newest.snapshot.sequence
    guard 0...Self.mostCounted ~= sequence else { return nil }
    var changes: [Change] = []
    while changes.count < min(sequence, Int64(capacity)),
      let change = readChange(sequence - Int64(changes.count))
    {
      changes.append(change)
    }
    guard sequence == 0 || !changes.isEmpty else { return nil }
    return Contents(
      instance: newest.instance, snapshot: newest.snapshot, changes: changes.reversed())
  }

  /// Adds changes, and the states that they led to. When this returns, they are there for good.
  func commit(_ changes: some Sequence<Change>, _ snapshot: Controller.Snapshot, instance: String) {
    for change in changes { write(change) }
    // The header must not be there before what it counts.
    atomicMemoryFence(ordering: .releasing)
    generation &+= 1
    var fields = StoredFields(bytes(header: Int(generation % 2)))
    fields.put(Self.layout)
    fields.put(generation)
    fields.put(instance)
    fields.put(snapshot)
    fields.putChecksum()
  }

  private func readHeader(
    _ place: Int
  ) -> (generation: UInt64, instance: String, snapshot: Controller.Snapshot)? {
    var fields = StoredFields(bytes(header: place))
    guard fields.takeNumber() == Self.layout, let generation = fields.takeNumber(),
      let instance = fields.takeText(), let snapshot = fields.takeSnapshot(), fields.isWhole()
    else { return nil }
    return (generation, instance, snapshot)
  }

  private func write(_ change: Change) {
    var fields = StoredFields(bytes(record: change.sequence))
    fields.put(UInt64(bitPattern: change.sequence))
    fields.put(UInt64(bitPattern: change.time.microseconds))
    for text in [change.machine.rawValue, change.from, change.to, change.event] { fields.put(text) }
    fields.putChecksum()
  }

  private func readChange(_ sequence: Int64) -> Change? {
    var fields = StoredFields(bytes(record: sequence))
    guard fields.takeNumber() == UInt64(bitPattern: sequence), let time = fields.takeTime(),
      let machine = fields.takeText().flatMap(Machine.init(rawValue:)),
      let from = fields.takeText(), let to = fields.takeText(), let event = fields.takeText(),
      fields.isWhole()
    else { return nil }
    return Change(
      sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }

  private func bytes(header place: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      rebasing: memory.bytes[place * Self.headerSize..<(place + 1) * Self.headerSize])
  }

  private func bytes(record sequence: Int64) -> UnsafeMutableRawBufferPointer {
    let start = 2 * Self.headerSize + Int((sequence - 1) % Int64(capacity)) * Self.recordSize
    return UnsafeMutableRawBufferPointer(
      rebasing: memory.bytes[start..<start + Self.recordSize])
  }
}
