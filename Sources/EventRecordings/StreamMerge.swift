internal import KeyboardModes

/// Merges streams by time, and at the same time in the order of the streams. So the reports of
/// devices stay whole: the kernel stamps all events of a report alike.
struct StreamMerge {
  let streams: [any RecordingStream]

  /// The next input of each stream, where there are several.
  private var heads: [RecordedInput?]

  /// The streams whose input is not known yet: at first all, then the one that was returned last.
  private var taken: [Int]

  /// What is wrong with a stream that could not be read to its end. The others can.
  private var fault: RecordingError?

  init(_ streams: [any RecordingStream]) {
    self.streams = streams
    heads = streams.map { _ in nil }
    taken = Array(streams.indices)
  }

  /// - Throws: when nothing is left, what was wrong first.
  mutating func next() throws(RecordingError) -> RecordedInput? {
    guard streams.count > 1 else { return try streams.first?.next() }
    for place in taken { heads[place] = read(streams[place]) }
    var first: (place: Int, input: RecordedInput)?
    for (place, head) in heads.enumerated() {
      guard let head else { continue }
      if let first, !head.precedes(first.input) { continue }
      first = (place, head)
    }
    taken = first.map { [$0.place] } ?? []
    if first == nil, let fault { throw fault }
    return first?.input
  }

  /// The key events that come next, where no other stream can have anything between them.
  func nextKeys() -> KeyRun? { streams.count == 1 ? streams[0].nextKeys() : nil }

  private mutating func read(_ stream: any RecordingStream) -> RecordedInput? {
    do throws(RecordingError) {
      return try stream.next()
    } catch {
      fault = fault ?? error
      return nil
    }
  }
}

extension RecordedInput {
  /// Whether this comes before what another stream has. What has no time but its place comes at once.
  fileprivate func precedes(_ other: RecordedInput) -> Bool {
    guard let time else { return other.time != nil }
    guard let otherTime = other.time else { return false }
    return time < otherTime || (time == otherTime && isRelease && !other.isRelease)
  }

  /// Whether keys were found up. Where that was found because the press of another device rests on
  /// it, both have the time of the press.
  private var isRelease: Bool {
    guard case .synchronized(_, let found, _) = input else { return false }
    return !found.isEmpty && found.allSatisfy { !$0.isDown }
  }
}
