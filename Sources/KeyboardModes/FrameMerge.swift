/// What one device reported at once: everything up to its `SYN_REPORT`.
public struct Frame: Hashable, Sendable {
  /// The time of the frame.
  public let time: Time
  /// The device.
  public let device: DeviceID
  /// What happened, in order.
  public var inputs: [Controller.Input]

  /// The frame of `device` at `time`.
  public init(time: Time, device: DeviceID, inputs: [Controller.Input]) {
    self.time = time
    self.device = device
    self.inputs = inputs
  }
}

extension Frame {
  /// The frames of several devices in the order in which they are to act: by time, then by the
  /// order of opening.
  ///
  /// The frames of one device never change places among themselves, and frames stay whole.
  ///
  /// - Parameter queues: the frames of each device, as read; in order of opening.
  public static func merged(_ queues: [[Frame]]) -> [Frame] {
    let queues = queues.filter { !$0.isEmpty }
    guard queues.count > 1 else { return queues.first ?? [] }
    var heads = queues.map { $0[...] }
    var merged: [Frame] = []
    merged.reserveCapacity(queues.reduce(0) { $0 + $1.count })
    while let first = heads.indices.filter({ !heads[$0].isEmpty }).min(by: { lhs, rhs in
      precedes(heads[lhs].first, heads[rhs].first)
    }) {
      merged.append(heads[first].removeFirst())
    }
    return merged
  }

  /// Takes from the frames of each device those up to a time, and returns them in the order in which
  /// they are to act.
  ///
  /// The frames of one device never change places here either: behind one that is later than `limit`
  /// all wait.
  public static func merged(takenFrom queues: inout [[Frame]], upTo limit: Time) -> [Frame] {
    let due = queues.map { Array($0.prefix { $0.time <= limit }) }
    for (index, taken) in due.enumerated() { queues[index].removeFirst(taken.count) }
    return merged(due)
  }

  private static func precedes(_ lhs: Frame?, _ rhs: Frame?) -> Bool {
    guard let lhs, let rhs else { return false }
    return (lhs.time, lhs.device) < (rhs.time, rhs.device)
  }
}
