import KeyboardModes

/// Merges streams by time. At equal times, a release that a grab hid comes first, and then the
/// streams come in their order. So frames stay whole: a frame has one time.
struct StreamMerge {
  private let streams: [any BatchStream]

  /// The batch that each stream yielded last, and the index of its first input that has not been
  /// returned; `nil` at the stream's end.
  private var remaining: [(batch: RecordedBatch, start: Int)?]

  /// The indices of the streams whose batches are used up.
  private var streamsToRead: Range<Int>

  /// The first fault of a stream. The other streams are read to their ends before it is thrown.
  private var fault: RecordingError?

  init(_ streams: [any BatchStream]) {
    self.streams = streams
    remaining = streams.map { _ in nil }
    streamsToRead = streams.indices
  }

  /// The next inputs, of one stream; `nil` at the end of all streams.
  ///
  /// - Throws: the first fault of a stream, after the inputs of all streams.
  mutating func next() throws(RecordingError) -> RecordedBatch? {
    guard streams.count > 1 else { return try streams.first?.next() }
    for index in streamsToRead { remaining[index] = read(index).map { ($0, 0) } }
    streamsToRead = 0..<0
    let never: Position = (.max, .max, .max)
    var (first, second) = (never, never)
    for (index, rest) in remaining.enumerated() {
      guard let (batch, start) = rest else { continue }
      let position = batch.position(of: start, in: index)
      if position < first {
        (first, second) = (position, first)
      } else if position < second {
        second = position
      }
    }
    if first != never { return take(first.stream, before: second) }
    if let fault { throw fault }
    return nil
  }

  /// The next inputs of a stream; `nil` at the end and at a fault. Keeps the first fault.
  private mutating func read(_ stream: Int) -> RecordedBatch? {
    do throws(RecordingError) {
      return try streams[stream].next()
    } catch {
      fault = fault ?? error
      return nil
    }
  }

  /// Takes the inputs of this stream that come before `other`, the first position of the others.
  private mutating func take(_ stream: Int, before other: Position) -> RecordedBatch? {
    guard let (batch, start) = remaining[stream] else { return nil }
    let end = (start + 1..<batch.count).first { batch.position(of: $0, in: stream) > other }
    if let end { remaining[stream] = (batch, end) } else { streamsToRead = stream..<stream + 1 }
    return batch.part(start..<(end ?? batch.count))
  }
}

/// The position of an input among those of all streams. The rank orders inputs with the same time:
/// the controller handles the releases that a grab hid before everything else of their time.
private typealias Position = (time: Int64, rank: Int, stream: Int)

extension RecordedBatch {
  /// The position of the input with this index. An input without a time comes first.
  fileprivate func position(of index: Int, in stream: Int) -> Position {
    switch self {
    case .keys(_, let events): return (events[index].time.microseconds, 1, stream)
    case .input(let next):
      let isMissed = if case .missedRelease = next { true } else { false }
      return (next.time?.microseconds ?? .min, isMissed ? 0 : 1, stream)
    }
  }

  /// The inputs with the indices `range`.
  fileprivate func part(_ range: Range<Int>) -> RecordedBatch {
    guard case .keys(let device, let events) = self, range.count < events.count else { return self }
    return .keys(device, Array(events[range]))
  }
}
