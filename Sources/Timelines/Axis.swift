/// The axis of time: where a time is drawn, and which times are labelled.
struct Axis {
  /// A labelled time.
  struct Mark {
    /// Where its line is.
    let x: Double
    /// The time, in seconds: `2.5 s`.
    let label: String
    /// Where the middle of the label is, which is not quite `x` at the picture's edges.
    let labelX: Double

    /// How wide the label may be.
    var width: Double { label.width(fontSize: Style.smallSize) }
  }

  /// Where the axis begins.
  static let left = 104.0
  /// Where it ends.
  static let right = 784.0
  /// Labels do not come closer to the picture's edges than this.
  private static let margin = 8.0

  /// What is drawn, in microseconds. It is at least 1 µs long, the shortest difference there is.
  let period: ClosedRange<Int64>
  /// The time that is called 0 s.
  let zero: Int64

  /// The axis of `period`.
  init(period: ClosedRange<Int64>, zero: Int64) {
    let (start, end) = (period.lowerBound, period.upperBound)
    self.period = start...max(end, start + 1)
    self.zero = zero
  }

  /// How long the period is, in microseconds.
  var duration: Int64 { period.upperBound - period.lowerBound }

  /// The shortest time that takes so many pixels, in whole microseconds.
  func duration(ofPixels pixels: Double) -> Int64 {
    Int64((Double(duration) / (Self.right - Self.left) * pixels).rounded(.up))
  }

  /// Where `time` is drawn; times outside of the period at its edges.
  func x(_ time: Int64) -> Double {
    let clamped = min(max(time, period.lowerBound), period.upperBound)
    let share = Double(clamped - period.lowerBound) / Double(duration)
    return Self.left + share * (Self.right - Self.left)
  }

  /// `time` in seconds, with six digits after the point.
  func text(_ time: Int64) -> String { seconds(time - zero, digits: 6) }

  /// As many marks as fit, but no more than eleven: 1, 2 or 5 of a power of ten seconds apart.
  var marks: [Mark] {
    var power: Int64 = 1
    for digits in stride(from: 6, through: -11, by: -1) {
      for factor: Int64 in [1, 2, 5] where duration <= 10 * factor * power {
        let marks = marks(each: factor * power, digits: max(0, digits))
        let fits = zip(marks, marks.dropFirst()).allSatisfy { one, next in
          one.labelX + one.width / 2 + Self.margin <= next.labelX - next.width / 2
        }
        if fits { return marks }
      }
      power *= 10
    }
    return []
  }

  private func marks(each step: Int64, digits: Int) -> [Mark] {
    // What is less than half a pixel outside is inside: a recording from 0.000001 s has its 0 s.
    let hair = duration / (2 * Int64(Self.right - Self.left))
    var marks: [Mark] = []
    var value = (period.lowerBound - zero - hair) / step * step
    while value <= period.upperBound - zero + hair {
      if value >= period.lowerBound - zero - hair {
        let label = "\(seconds(value, digits: digits)) s"
        let x = x(zero + value)
        let reach = label.width(fontSize: Style.smallSize) / 2 + Self.margin
        marks.append(Mark(x: x, label: label, labelX: min(x, Timeline.pictureWidth - reach)))
      }
      value += step
    }
    return marks
  }
}
