/// The times of the presses of one class: exact while there are few, and coarser as there are more.
struct PressTimes: Sendable {
  /// The maximum number of slots that are kept. The picture is fewer pixels wide.
  static let mostSlots = 2048

  private(set) var count = 0
  /// The time slots with presses; each begins its number times ``width`` after the clock's zero.
  private(set) var slots: Set<Int64> = []
  /// The width of a slot is 2 to the power of this, in microseconds.
  private var exponent = 0

  /// The length of a slot, in microseconds.
  var width: Int64 { 1 << exponent }

  /// The middles of the slots, in ascending order.
  var times: [Int64] { slots.sorted().map { $0 << exponent + width / 2 } }

  mutating func add(_ time: Int64) {
    count += 1
    slots.insert(time >> exponent)
    while slots.count > Self.mostSlots {
      exponent += 1
      slots = Set(slots.map { $0 >> 1 })
    }
  }
}
