/// When keys of one class were pressed: exactly while that is few times, and coarser as they grow
/// many.
struct PressTimes: Sendable {
  /// More slots than this are never kept. The picture has fewer pixels.
  static let mostSlots = 2048

  /// How many presses there were.
  private(set) var count = 0
  /// The slots of time in which there were any; each is so many ``width`` after the clock's zero.
  private(set) var slots: Set<Int64> = []
  /// The width of a slot is 2 to the power of this, in microseconds.
  private var exponent = 0

  /// How long a slot is, in microseconds.
  var width: Int64 { 1 << exponent }

  /// The middles of the slots, in their order.
  var times: [Int64] { slots.sorted().map { $0 << exponent + width / 2 } }

  /// Adds a press at `time`.
  mutating func add(_ time: Int64) {
    count += 1
    slots.insert(time >> exponent)
    while slots.count > Self.mostSlots {
      exponent += 1
      slots = Set(slots.map { $0 >> 1 })
    }
  }
}
