/// The time axis: maps times to x coordinates and chooses which times are labelled.
struct Axis {
  /// The x coordinates at which the axis begins and ends.
  static let left = 128.0
  static let right = 784.0

  /// The period that is drawn, in microseconds: at least 1, the shortest difference of times.
  let period: ClosedRange<Int64>
  /// The time that is labelled 0 s.
  let zero: Int64

  init(period: ClosedRange<Int64>, zero: Int64) {
    let (start, end) = (period.lowerBound, period.upperBound)
    self.period = start...max(end, start + 1)
    self.zero = zero
  }

  /// The length of the period, in microseconds.
  var duration: Int64 { period.upperBound - period.lowerBound }

  /// The shortest duration that is `pixels` pixels wide, in whole microseconds.
  func duration(ofPixels pixels: Double) -> Int64 {
    Int64((Double(duration) / (Self.right - Self.left) * pixels).rounded(.up))
  }

  /// The x coordinate of `time`.
  func x(_ time: Int64) -> Double {
    let share = Double(time - period.lowerBound) / Double(duration)
    return Self.left + share * (Self.right - Self.left)
  }

  /// The times to label, at most six, at intervals of 1, 2 or 5 times a power of ten. A label of
  /// the longest time that a recording can have, in microseconds, fits between two of them.
  var marks: [(x: Double, label: String)] {
    var steps: [Int64] = [1, 2, 5]
    while duration > 5 * steps[2] { steps = steps.map { $0 * 10 } }
    let step = steps.first { duration <= 5 * $0 } ?? steps[2]
    // Include a mark just before the period: a recording that begins at 0.000001 s shows 0 s.
    let first = period.lowerBound - zero - duration / 1000
    return stride(from: first / step * step, through: period.upperBound - zero, by: Int(step))
      .filter { $0 >= first }
      .map { (max(Self.left, x(zero + $0)), "\(shortSeconds($0)) s") }
  }
}
