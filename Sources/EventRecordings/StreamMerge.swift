/// Merges streams by time, and at the same time in the order of the streams. So the reports of
/// devices stay whole: the kernel stamps all events of a report alike.
struct StreamMerge {
  let streams: [any RecordingStream]

  /// The next input of each stream, where there are several.
  private var heads: [RecordedInput?]

  /// The stream whose input was returned last. It is read only when more is wanted, since a fault
  /// comes after what stands before it.
  private var taken: Int?

  init(_ streams: [any RecordingStream]) throws(RecordingError) {
    self.streams = streams
    heads = []
    guard streams.count > 1 else { return }
    for stream in streams { heads.append(try stream.next()) }
  }

  mutating func next() throws(RecordingError) -> RecordedInput? {
    guard streams.count > 1 else { return try streams.first?.next() }
    if let taken { heads[taken] = try streams[taken].next() }
    taken = nil
    var first: (place: Int, input: RecordedInput)?
    for (place, head) in heads.enumerated() {
      guard let head else { continue }
      if let first, !head.precedes(first.input) { continue }
      first = (place, head)
    }
    taken = first?.place
    return first?.input
  }
}

extension RecordedInput {
  /// Whether this comes before what another stream has. What has no time but its place comes at once.
  fileprivate func precedes(_ other: RecordedInput) -> Bool {
    guard let time else { return other.time != nil }
    guard let otherTime = other.time else { return false }
    return time < otherTime
  }
}
