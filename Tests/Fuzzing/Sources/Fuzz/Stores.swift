import KeyboardModes
import System
import Terminal

@testable import Daemon

/// Fewer than the store keeps, so that the ring has to drop some.
private let capacity = 4

/// Starts a daemon with this file in memory, which need not be what a daemon leaves. It serves what
/// it finds, adds to it, and the next one has that.
func attemptStore(_ bytes: [UInt8]) {
  do throws(SystemError) {
    try goOn(with: bytes)
  } catch {
    fatalError("\(error)")
  }
}

private func goOn(with bytes: [UInt8]) throws(SystemError) {
  let file = try FileDescriptor.inMemory("fuzz")
  try MemorySlots(file).replace(with: Array(bytes.prefix(MemorySlots.slotSize)))
  let previous = try StateStore(file)
  let contents = previous.contents
  let keyboard = StillKeyboard()
  let engine = Engine(
    settings: Settings(), ringCapacity: capacity, store: previous, at: keyboard.now)
  let publisher = Publisher(engine, keyboard)
  var sequence = contents?.state.states.sequence ?? 0
  // From a state that the table does not have it goes to the initial one.
  if let name = contents?.state.states[.keyboard], Settings().keyboard.state(named: name) == nil {
    sequence += 1
  }
  require(engine.controller.states.sequence == sequence)
  let click = Batch([.client(.keyboard(.clickMoreButton), at: keyboard.now)])
  require(engine.process(click) && engine.process(click))
  require(engine.controller.states.sequence == sequence + 2)
  for after in [0, sequence, sequence + 1, sequence + 2] {
    var position = SubscriberPosition(sequence: after)
    var last: UInt8?
    while let bytes = publisher.next(for: &position) { last = bytes.last }
    require(position == SubscriberPosition(sequence: sequence + 2))
    require(last == (after == sequence + 2 ? nil : 0), "a message without its end")
  }
  let next = try StateStore(file).contents
  if sequence + 2 > Change.maxSequence { return require(next == nil, "too much was counted") }
  require(next?.snapshot == engine.controller.snapshot, "what is told is not kept")
  if let contents { require(next?.state.instance == contents.state.instance) }
  require(next?.changes.last?.sequence == sequence + 2)
}
