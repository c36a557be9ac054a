/// The time axis: maps times to x coordinates and chooses which times are labelled.
struct Axis {
  /// The x coordinates at which the axis begins and ends.
  static let (left, right) = (128.0, 784.0)

  /// When the axis begins, in microseconds.
  private let start: Int64
  /// The length of the axis, in microseconds; at least 1, because coordinates are divided by it.
  let duration: Int64
  /// The time that is labelled 0 s.
  private let zero: Int64

  init(period: ClosedRange<Int64>, zero: Int64) {
    (start, self.zero) = (period.lowerBound, zero)
    duration = max(1, period.upperBound - start)
  }

  /// The time at which the axis ends.
  var end: Int64 { start + duration }

  /// The shortest duration that can be seen, in microseconds: three pixels, rounded up.
  var minSpan: Int64 { Int64((Double(duration) / (Self.right - Self.left) * 3).rounded(.up)) }

  /// The x coordinate of `time`.
  func x(_ time: Int64) -> Double {
    Self.left + Double(time - start) / Double(duration) * (Self.right - Self.left)
  }

  /// The times to label, at most six, at intervals of 1, 2 or 5 times a power of ten. Every label
  /// fits between two marks, even the label of the latest time that a recording can have.
  var marks: [(x: Double, label: String)] {
    var steps: [Int64] = [1, 2, 5]
    while duration > 5 * steps[2] { steps = steps.map { $0 * 10 } }
    let step = steps.first { duration <= 5 * $0 } ?? steps[2]
    // Includes a mark just before the period: a recording that begins at 0.000001 s shows 0 s.
    let first = (start - zero - duration / 1000 + step - 1) / step * step
    return stride(from: first, through: end - zero, by: Int(step)).map {
      (max(Self.left, x(zero + $0)), "\(shortSeconds($0)) s")
    }
  }
}
