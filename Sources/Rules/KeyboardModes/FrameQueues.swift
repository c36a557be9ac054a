/// Queues of inputs that have not taken effect yet, one queue per device, in frames. A frame is
/// everything that a device reports up to a `SYN_REPORT`.
///
/// A device's index is its position among the open devices, in the order of opening, from 0. The
/// queues keep their capacity, so that a key event allocates no memory.
public struct FrameQueues: Sendable {
  private struct Waiting: Sendable {
    let input: Controller.Input
    /// The index of the input's device.
    var index: Int
    /// When the input's frame takes effect; not before earlier frames of the device.
    let time: Time
  }

  /// The inputs of all queues. The inputs of one device are in the order of its reports.
  private var waiting: [Waiting] = []

  /// Whether the last frame of the device at each index is open.
  private var isFrameOpen: [Bool] = []

  /// Queues for no devices.
  public init() {}

  /// Adds a queue for a device that was opened after all others.
  public mutating func addQueue() { isFrameOpen.append(false) }

  /// Removes the queue at `index`, and returns the inputs that have not taken effect yet. The
  /// indices of later queues decrease by one.
  public mutating func removeQueue(_ index: Int) -> [Controller.Input] {
    let inputs = inputs(of: index)
    isFrameOpen.remove(at: index)
    waiting.removeAll { $0.index == index }
    for other in waiting.indices where waiting[other].index > index { waiting[other].index -= 1 }
    return inputs
  }

  /// The inputs of the device at `index` that have not taken effect yet.
  public func inputs(of index: Int) -> [Controller.Input] {
    waiting.filter { $0.index == index }.map(\.input)
  }

  /// Whether all queues are empty.
  public var isEmpty: Bool { waiting.isEmpty }

  /// The time until which the last frame of the device at `index` waits; `nil` if its queue
  /// is empty.
  public func lastFrameTime(of index: Int) -> Time? { waiting.last { $0.index == index }?.time }

  /// Adds `input` to the open frame of the device at `index`. If no frame is open, begins one at
  /// `time`, or at the time of the last frame of the device if that is later.
  public mutating func append(_ input: consuming Controller.Input, at time: Time, of index: Int) {
    let last = lastFrameTime(of: index) ?? time
    let frame = isFrameOpen[index] ? last : max(last, time)
    waiting.append(Waiting(input: input, index: index, time: frame))
    isFrameOpen[index] = true
  }

  /// Ends the open frame of the device at `index`: the next input begins a new frame.
  public mutating func endFrame(of index: Int) { isFrameOpen[index] = false }

  /// Takes the frames that are not later than `limit`, in the order in which they take effect: by
  /// time, then by the order of opening.
  ///
  /// The frames of one device keep their order, and frames stay whole: if a frame is later than
  /// `limit`, all frames behind it in its queue wait too.
  ///
  /// - Parameter inputs: the array to which the inputs of these frames are appended.
  public mutating func take(upTo limit: Time, into inputs: inout [Controller.Input]) {
    // Nearly always, one key event waits alone.
    if waiting.count == 1, waiting[0].time <= limit {
      return inputs.append(waiting.removeLast().input)
    }
    // The sort is stable, so inputs of one frame keep their order.
    waiting.sort { ($0.time, $0.index) < ($1.time, $1.index) }
    let count = waiting.firstIndex { $0.time > limit } ?? waiting.count
    for first in 0..<count { inputs.append(waiting[first].input) }
    waiting.removeFirst(count)
  }
}
