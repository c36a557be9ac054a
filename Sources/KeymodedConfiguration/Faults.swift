internal import YAML

/// The faults of a file: all are counted, and those that come first in the file are kept.
///
/// A file can have as many faults as values. The text of a fault, which may need a search for the name
/// that was meant, is therefore made only for a fault that is told.
struct Faults {
  /// A fault, and its text once it is wanted.
  typealias Fault = (mark: Mark, message: () -> String)

  /// How many there are.
  private(set) var count = 0

  /// The first ones, at most ``ConfigurationErrors/limit``, in the order of the file.
  private(set) var first: [Fault] = []

  mutating func add(_ message: @escaping () -> String, at mark: Mark) {
    count += 1
    if first.count == ConfigurationErrors.limit {
      guard let last = first.last, mark < last.mark else { return }
      first.removeLast()
    }
    // Of two at one place, the one that was found first comes first.
    let place = first.firstIndex { mark < $0.mark } ?? first.endIndex
    first.insert((mark, message), at: place)
  }
}
