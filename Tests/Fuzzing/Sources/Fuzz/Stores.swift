import KeyboardModes
import Linux
import Terminal

@testable import Daemon

private let capacity = 4
private let size = StateStore.size(capacity: capacity)

/// What a daemon that ended left in memory, for all runs: making it anew would be most of the work.
/// The fuzzer has one thread.
nonisolated(unsafe) private let memory: SharedMemory = {
  do throws(SystemError) {
    return try SharedMemory(name: "fuzz", size: size)
  } catch {
    fatalError("\(error)")
  }
}()

/// Has the memory hold something else than a daemon would leave, and goes on from there.
/// `StateStoreTests` damages what a daemon left.
func attemptStore(_ bytes: [UInt8]) {
  var choices = Choices(bytes)
  forge(&choices)
  goOn()
}

/// Has the memory hold anything at all, where the fuzzer wants it with checksums that are right.
private func forge(_ choices: inout Choices) {
  let flags = choices.byte()
  let content = choices.remaining().prefix(size)
  memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
  memory.bytes.copyBytes(from: content)
  for place in 0..<2 where flags & 1 << place != 0 {
    sealStates(slice(place * StateStore.statesSize / 2, StateStore.statesSize / 2))
  }
  let recordSize = (size - StateStore.statesSize) / (2 * capacity)
  for place in 0..<2 * capacity where flags & 4 << (place % 4) != 0 {
    sealRecord(slice(StateStore.statesSize + place * recordSize, recordSize))
  }
}

/// See ``KeptBytes``: a layout, a generation, the count of bytes, a checksum, and the bytes.
private func sealStates(_ copy: UnsafeMutableRawBufferPointer) {
  copy.storeBytes(of: StateStore.layout, as: UInt64.self)
  let count = copy.load(fromByteOffset: 16, as: UInt64.self)
  guard count <= UInt64(copy.count - 32) else { return }
  let sum = Checksum.of(
    UnsafeRawBufferPointer(rebasing: copy[32...].prefix(Int(count))),
    after: Checksum.of(UnsafeRawBufferPointer(rebasing: copy[..<24])))
  copy.storeBytes(of: sum, toByteOffset: 24, as: UInt64.self)
}

/// A record ends with its checksum.
private func sealRecord(_ record: UnsafeMutableRawBufferPointer) {
  let sum = Checksum.of(UnsafeRawBufferPointer(rebasing: record.dropLast(8)))
  record.storeBytes(of: sum, toByteOffset: record.count - 8, as: UInt64.self)
}

private func slice(_ start: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
  UnsafeMutableRawBufferPointer(rebasing: memory.bytes[start..<start + count])
}

/// What a daemon does with what it finds: it serves it, adds to it, and the next one has that.
private func goOn() {
  let contents = StateStore(memory, capacity: capacity).read()
  if let contents {
    require(contents.changes.count <= capacity)
    require(contents.changes.last.map(\.sequence) ?? 0 == contents.snapshot.modes.sequence)
    for (last, next) in zip(contents.changes, contents.changes.dropFirst()) {
      require(last.sequence + 1 == next.sequence, "a gap in what was kept")
    }
  }
  let keyboard = StillKeyboard()
  let engine = Engine(
    settings: Settings(), ringCapacity: capacity, store: StateStore(memory, capacity: capacity),
    at: keyboard.now)
  let publisher = Publisher(engine, keyboard)
  var sequence = contents?.snapshot.modes.sequence ?? 0
  // From a state that the table does not have it goes to the initial one.
  if let name = contents?.snapshot.modes.keyboard, Settings().keyboard.state(named: name) == nil {
    sequence += 1
  }
  require(engine.controller.modes.sequence == sequence)
  let click = Batch([.client(.keyboard(.clickMoreButton), at: keyboard.now)])
  require(engine.process(click) && engine.process(click))
  require(engine.controller.modes.sequence == sequence + 2)
  for after in [0, sequence, sequence + 1, sequence + 2] {
    var position = SubscriberPosition(sequence: after)
    var last: UInt8?
    while let bytes = publisher.next(for: &position) { last = bytes.last }
    require(position == SubscriberPosition(sequence: sequence + 2))
    require(last == (after == sequence + 2 ? nil : 0), "a message without its end")
  }
  let next = StateStore(memory, capacity: capacity).read()
  if sequence + 2 > Change.greatestSequence { return require(next == nil, "too much was counted") }
  require(next?.snapshot == engine.controller.snapshot, "what is told is not kept")
  if let contents { require(next?.instance == contents.instance) }
  require(next?.changes.last?.sequence == sequence + 2)
}
