/// The time axis: maps times to x coordinates and chooses which times are labelled.
struct Axis {
  /// A labelled time.
  struct Mark {
    let x: Double
    /// The time, in seconds: `2.5 s`.
    let label: String
    /// The middle of the label, which differs from `x` near the picture's right edge.
    let labelX: Double
  }

  /// The x coordinates at which the axis begins and ends.
  static let left = 104.0
  static let right = 784.0
  /// The minimum distance of labels from each other, and from the picture's right edge.
  private static let margin = 8.0

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

  /// The x coordinate of `time`; a time outside the period is drawn at the nearer end.
  func x(_ time: Int64) -> Double {
    let clamped = min(max(time, period.lowerBound), period.upperBound)
    let share = Double(clamped - period.lowerBound) / Double(duration)
    return Self.left + share * (Self.right - Self.left)
  }

  /// `time` in seconds, with six digits after the point.
  func text(_ time: Int64) -> String { seconds(time - zero) }

  /// As many marks as fit, at most eleven, at intervals of 1, 2 or 5 times a power of ten.
  var marks: [Mark] {
    var power: Int64 = 1
    for digits in stride(from: 6, through: -11, by: -1) {
      for step in [power, 2 * power, 5 * power] where duration <= 10 * step {
        let marks = marks(each: step, digits: max(0, digits))
        let fits = zip(marks, marks.dropFirst()).allSatisfy { one, next in
          let width = (one.label + next.label).width(fontSize: Style.smallSize) / 2
          return next.labelX - one.labelX >= width + Self.margin
        }
        if fits { return marks }
      }
      power *= 10
    }
    return []
  }

  private func marks(each step: Int64, digits: Int) -> [Mark] {
    // Include marks up to half a pixel outside: a recording that begins at 0.000001 s shows 0 s.
    let hair = duration / (2 * Int64(Self.right - Self.left))
    let first = Double(period.lowerBound - zero - hair) / Double(step)
    let last = Double(period.upperBound - zero + hair) / Double(step)
    return stride(from: first.rounded(.up), through: last, by: 1).map { number in
      let time = Int64(number) * step
      let label = "\(seconds(time, digits: digits)) s"
      let x = x(zero + time)
      let reach = label.width(fontSize: Style.smallSize) / 2 + Self.margin
      return Mark(x: x, label: label, labelX: min(x, Picture.width - reach))
    }
  }
}
