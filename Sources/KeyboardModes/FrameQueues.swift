/// What several devices reported and has yet to act, in frames: what a device reported at once,
/// everything up to its `SYN_REPORT`.
///
/// The devices have places, from 0, in the order of opening. Memory that was needed once is kept, so
/// that a key takes none.
public struct FrameQueues: Sendable {
  private struct Queue: Sendable {
    var inputs: [Controller.Input] = []
    /// The time of each frame, and where it ends among the inputs.
    var frames: [(time: Time, end: Int)] = []
    var isFrameOpen = false
    /// How many frames have been taken, and where the next one begins.
    var taken = 0
    var start = 0

    mutating func append(_ input: Controller.Input, at time: Time) {
      inputs.append(input)
      if isFrameOpen {
        frames[frames.count - 1].end = inputs.count
      } else {
        frames.append((time, inputs.count))
        isFrameOpen = true
      }
    }

    mutating func takeFrame(into taken: inout [Controller.Input]) {
      let end = frames[self.taken].end
      while start < end {
        taken.append(inputs[start])
        start += 1
      }
      self.taken += 1
    }

    /// Makes room of what was taken.
    mutating func forgetTaken() {
      guard taken > 0 else { return }
      if taken == frames.count {
        inputs.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
      } else {
        inputs.removeFirst(start)
        frames.removeFirst(taken)
        for place in frames.indices { frames[place].end -= start }
      }
      taken = 0
      start = 0
    }
  }

  private var queues: [Queue] = []

  /// Those of no device.
  public init() {}

  /// Adds the place of a device that was opened after all others.
  public mutating func addPlace() { queues.append(Queue()) }

  /// Removes a place; those behind it move up.
  ///
  /// - Returns: what has yet to act of its device.
  public mutating func removePlace(_ place: Int) -> [Controller.Input] {
    queues.remove(at: place).inputs
  }

  /// What has yet to act of the device at a place.
  public func inputs(of place: Int) -> [Controller.Input] { queues[place].inputs }

  /// Whether nothing has yet to act.
  public var isEmpty: Bool { queues.allSatisfy { $0.frames.isEmpty } }

  /// The time of the last frame of the device at a place; `nil` where it has none.
  public func lastTime(of place: Int) -> Time? { queues[place].frames.last?.time }

  /// Adds to the frame of the device at a place; one that begins with it is of this `time`.
  public mutating func append(_ input: Controller.Input, at time: Time, of place: Int) {
    queues[place].append(input, at: time)
  }

  /// Ends the frame of the device at a place: what comes next belongs to another.
  public mutating func endFrame(of place: Int) { queues[place].isFrameOpen = false }

  /// Takes the frames up to a time, in the order in which they are to act: by time, then by the
  /// order of opening.
  ///
  /// The frames of one device never change places among themselves, and frames stay whole: behind one
  /// that is later than `limit` all of its device wait.
  ///
  /// - Parameter inputs: where what happened in them is appended.
  public mutating func take(upTo limit: Time, into inputs: inout [Controller.Input]) {
    while let place = earliest(upTo: limit) { queues[place].takeFrame(into: &inputs) }
    for place in queues.indices { queues[place].forgetTaken() }
  }

  private func earliest(upTo limit: Time) -> Int? {
    var found: Int?
    var earliest = limit
    for (place, queue) in queues.enumerated() where queue.taken < queue.frames.count {
      let time = queue.frames[queue.taken].time
      guard found == nil ? time <= earliest : time < earliest else { continue }
      found = place
      earliest = time
    }
    return found
  }
}
