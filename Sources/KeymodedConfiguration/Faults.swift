import YAML

/// The faults of a file: all are counted, and those that come first in the file are kept.
///
/// A file can have as many faults as values. The message of a fault, which may need a search for a
/// similar name, is therefore made only for a fault that is reported.
struct Faults {
  /// The position of a fault, and a closure that makes its message.
  typealias Fault = (mark: Mark, message: () -> String)

  /// How many faults were found.
  private(set) var count = 0

  /// The first ones, at most ``ConfigurationErrors/limit``, in the order of the file.
  private(set) var first: [Fault] = []

  mutating func add(_ message: @escaping () -> String, at mark: Mark) {
    count += 1
    if first.count == ConfigurationErrors.limit {
      guard let last = first.last, mark < last.mark else { return }
      first.removeLast()
    }
    // Faults at the same position stay in the order in which they were found.
    let place = first.firstIndex { mark < $0.mark } ?? first.endIndex
    first.insert((mark, message), at: place)
  }
}
