internal import KeyboardModes

/// Merges streams by time. Inputs with the same time keep the order of the streams, so frames stay
/// whole: the kernel gives all events of a frame the same time.
struct StreamMerge {
  let streams: [any RecordingStream]

  /// What a stream has yielded and the merge has not returned yet.
  private struct Rest {
    let batch: RecordedBatch
    /// The index of the first input that has not been returned, and its turn.
    var start: Int
    var turn: Turn
  }

  /// The rest of each stream, if there are several streams; `nil` at a stream's end.
  private var rests: [Rest?]

  /// The streams whose rest is used up.
  private var unread: Range<Int>

  /// The first fault of a stream. The other streams are read to their ends before it is thrown.
  private var fault: RecordingError?

  init(_ streams: [any RecordingStream]) {
    self.streams = streams
    rests = streams.map { _ in nil }
    unread = streams.indices
  }

  /// The next inputs, of one stream; `nil` at the end of all streams.
  ///
  /// - Throws: at the end, the first fault.
  mutating func next() throws(RecordingError) -> RecordedBatch? {
    guard streams.count > 1 else { return try streams.first?.next() }
    for index in unread { read(index) }
    unread = 0..<0
    let never: Turn = (.max, .max, .max)
    var (first, second) = (never, never)
    for rest in rests {
      guard let turn = rest?.turn else { continue }
      if turn < first {
        (first, second) = (turn, first)
      } else if turn < second {
        second = turn
      }
    }
    if let batch = take(first.stream, before: second) { return batch }
    if let fault { throw fault }
    return nil
  }

  private mutating func read(_ index: Int) {
    rests[index] = nil
    do throws(RecordingError) {
      guard let batch = try streams[index].next() else { return }
      rests[index] = Rest(batch: batch, start: 0, turn: batch.turn(of: 0, in: index))
    } catch {
      fault = fault ?? error
    }
  }

  /// Takes the inputs of a stream whose turn comes before that of all other streams.
  private mutating func take(_ stream: Int, before other: Turn) -> RecordedBatch? {
    guard rests.indices.contains(stream), let rest = rests[stream] else { return nil }
    var end = rest.start + 1
    while end < rest.batch.count {
      let turn = rest.batch.turn(of: end, in: stream)
      guard turn < other else {
        rests[stream] = Rest(batch: rest.batch, start: end, turn: turn)
        return rest.batch.part(rest.start..<end)
      }
      end += 1
    }
    unread = stream..<stream + 1
    return rest.batch.part(rest.start..<end)
  }
}

/// When an input has its turn among those of other streams. Its rank orders inputs with the same
/// time: if the controller asked before a press on one device which keys of another are up, their
/// releases have the time of the press and come first.
private typealias Turn = (time: Int64, rank: Int, stream: Int)

extension RecordedBatch {
  /// The turn of the input with this index. An input without a time has its turn at once.
  fileprivate func turn(of index: Int, in stream: Int) -> Turn {
    switch self {
    case .keys(_, let events): return (events[index].time.microseconds, 1, stream)
    case .input(let next):
      guard case .synchronized(_, let found, _) = next.input else {
        return (next.time?.microseconds ?? .min, 1, stream)
      }
      let isRelease = !found.isEmpty && found.allSatisfy { !$0.isDown }
      return (next.time?.microseconds ?? .min, isRelease ? 0 : 1, stream)
    }
  }

  /// The inputs with the indices `range`.
  fileprivate func part(_ range: Range<Int>) -> RecordedBatch {
    guard case .keys(let device, let events) = self, range.count < events.count else { return self }
    return .keys(device, Array(events[range]))
  }
}
