/// Queues of inputs that have not taken effect yet, one queue per device, in frames. A frame is
/// everything that a device reports up to a `SYN_REPORT`.
///
/// A device's index is its position among the open devices, in the order of opening, from 0. The
/// queues keep their capacity, so that a key event allocates no memory.
public struct FrameQueues: Sendable {
  private struct Queue: Sendable {
    var inputs: [Controller.Input] = []
    /// The time of each frame, and the index in `inputs` at which the frame ends.
    var frames: [(time: Time, end: Int)] = []
    var isFrameOpen = false
    /// How many frames have been taken, and the index in `inputs` at which the next one begins.
    var taken = 0
    var start = 0

    /// Adds an input, and returns whether it begins a frame.
    mutating func append(_ input: Controller.Input, at time: Time) -> Bool {
      inputs.append(input)
      guard !isFrameOpen else {
        frames[frames.count - 1].end = inputs.count
        return false
      }
      frames.append((time, inputs.count))
      isFrameOpen = true
      return true
    }

    mutating func takeFrame(into taken: inout [Controller.Input]) {
      let end = frames[self.taken].end
      while start < end {
        taken.append(inputs[start])
        start += 1
      }
      self.taken += 1
    }

    /// Removes the frames that were taken.
    mutating func forgetTaken() {
      guard taken > 0 else { return }
      if taken == frames.count {
        inputs.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
      } else {
        inputs.removeFirst(start)
        frames.removeFirst(taken)
        for index in frames.indices { frames[index].end -= start }
      }
      taken = 0
      start = 0
    }
  }

  private var queues: [Queue] = []

  /// How many frames wait in all queues. While none does, no queue is looked at: nearly every key is
  /// taken alone, and there can be many devices.
  private var waiting = 0

  /// Queues for no devices.
  public init() {}

  /// Adds a queue for a device that was opened after all others.
  public mutating func addQueue() { queues.append(Queue()) }

  /// Removes the queue at `index`, and returns the inputs that have not taken effect yet. The
  /// indices of later queues decrease by one.
  public mutating func removeQueue(_ index: Int) -> [Controller.Input] {
    waiting -= queues[index].frames.count
    return queues.remove(at: index).inputs
  }

  /// The inputs of the device at `index` that have not taken effect yet.
  public func inputs(of index: Int) -> [Controller.Input] { queues[index].inputs }

  /// Whether all queues are empty.
  public var isEmpty: Bool { waiting == 0 }

  /// The time of the last frame of the device at `index`; `nil` if its queue is empty.
  public func lastTime(of index: Int) -> Time? { queues[index].frames.last?.time }

  /// Adds `input` to the open frame of the device at `index`, or else begins a frame with this
  /// `time`.
  public mutating func append(_ input: Controller.Input, at time: Time, of index: Int) {
    if queues[index].append(input, at: time) { waiting += 1 }
  }

  /// Ends the open frame of the device at `index`: the next input begins a new frame.
  public mutating func endFrame(of index: Int) { queues[index].isFrameOpen = false }

  /// Takes the frames that are not later than `limit`, in the order in which they take effect: by
  /// time, then by the order of opening.
  ///
  /// The frames of one device keep their order, and frames stay whole: if a frame is later than
  /// `limit`, all frames behind it in its queue wait too.
  ///
  /// - Parameter inputs: the array to which the inputs of these frames are appended.
  public mutating func take(upTo limit: Time, into inputs: inout [Controller.Input]) {
    let before = waiting
    while waiting > 0, let index = earliest(upTo: limit) {
      queues[index].takeFrame(into: &inputs)
      waiting -= 1
    }
    guard waiting < before else { return }
    for index in queues.indices { queues[index].forgetTaken() }
  }

  private func earliest(upTo limit: Time) -> Int? {
    var found: Int?
    var earliest = limit
    // A copy of a queue would be retained.
    for index in queues.indices where queues[index].taken < queues[index].frames.count {
      let time = queues[index].frames[queues[index].taken].time
      guard found == nil ? time <= earliest : time < earliest else { continue }
      found = index
      earliest = time
    }
    return found
  }
}
