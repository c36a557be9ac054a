import KeyboardModes
import Testing

@Suite("Frame queues")
struct FrameQueuesTests {
  /// One queue per list, with a frame at each of the list's times. Each frame holds two inputs with
  /// an ID made of the indices of queue and frame, so that a test can tell all frames apart.
  private func queues(_ times: [[Int64]]) -> FrameQueues {
    var queues = FrameQueues()
    for (index, times) in times.enumerated() {
      queues.addQueue()
      for (number, time) in times.enumerated() { add(&queues, index, number, at: time) }
    }
    return queues
  }

  private func add(_ queues: inout FrameQueues, _ index: Int, _ number: Int, at time: Int64) {
    for press in [true, false] {
      queues.append(input(index, number, press), at: Time(microseconds: time), of: index)
    }
    queues.endFrame(of: index)
  }

  private func input(_ index: Int, _ number: Int, _ isPress: Bool) -> Controller.Input {
    // The input's time carries the ID; the queue orders frames by their own time.
    .client(isPress ? .shiftPressed : .characterTyped, at: Time(microseconds: id(index, number)))
  }

  private func id(_ index: Int, _ number: Int) -> Int64 { Int64(index * 100 + number) }

  private func taken(_ queues: inout FrameQueues, upTo limit: Int64 = .max) -> [Int64] {
    var inputs: [Controller.Input] = []
    queues.take(upTo: Time(microseconds: limit), into: &inputs)
    var ids: [Int64] = []
    for (index, taken) in inputs.enumerated() {
      guard case .client(let event, let time) = taken else { continue }
      #expect((event == .shiftPressed) == index.isMultiple(of: 2), "a frame is not whole")
      if event == .shiftPressed { ids.append(time.microseconds) }
    }
    #expect(inputs.count == 2 * ids.count)
    return ids
  }

  @Test("frames of several devices are taken by time, then by the order of opening")
  func merged() {
    var queues = queues([[10, 30, 50], [10, 20], [], [5, 60]])
    #expect(taken(&queues) == [300, 0, 100, 101, 1, 2, 301])
    #expect(queues.isEmpty)
  }

  @Test("frames of one device are taken in the order in which they were read")
  func ofOneDevice() {
    var alone = queues([[30, 10, 20]])
    #expect(taken(&alone) == [0, 1, 2])
    var beside = queues([[30, 10, 20], [15]])
    #expect(taken(&beside) == [100, 0, 1, 2])
  }

  @Test("frames later than the limit wait, and no frame of the same device overtakes them")
  func upToALimit() {
    var queues = queues([[10, 30, 20], [31, 12], [11, 20]])
    #expect(taken(&queues, upTo: 20) == [0, 200, 201])
    #expect(!queues.isEmpty)
    #expect(queues.lastFrameTime(of: 0) == Time(microseconds: 30), "behind the frame of that time")
    #expect(queues.lastFrameTime(of: 2) == nil)
    #expect(queues.inputs(of: 0) == [1, 2].flatMap { [input(0, $0, true), input(0, $0, false)] })
    add(&queues, 2, 2, at: 25)
    #expect(taken(&queues, upTo: 40) == [202, 1, 2, 100, 101])
    #expect(queues.isEmpty)
  }

  @Test("a frame that waits alone is taken whole, again and again, and waits if it is too late")
  func alone() {
    var queues = queues([[], [], []])
    for number in 0..<3 {
      let index = [1, 0, 2][number]
      add(&queues, index, number, at: 20)
      #expect(taken(&queues, upTo: 19) == [])
      #expect(!queues.isEmpty)
      #expect(taken(&queues, upTo: 20) == [id(index, number)])
      #expect(queues.isEmpty)
      #expect(queues.inputs(of: index) == [])
      #expect(queues.lastFrameTime(of: index) == nil)
    }
    var inputs = [input(0, 7, true)]
    add(&queues, 1, 8, at: 20)
    queues.take(upTo: Time(microseconds: 20), into: &inputs)
    #expect(inputs == [input(0, 7, true), input(1, 8, true), input(1, 8, false)])
  }

  @Test("removing a device removes its frames and keeps the others")
  func removed() {
    var queues = queues([[10], [11, 12], [13]])
    #expect(taken(&queues, upTo: 11) == [0, 100])
    #expect(queues.removeQueue(1) == [input(1, 1, true), input(1, 1, false)])
    #expect(!queues.isEmpty)
    #expect(taken(&queues) == [200])
    #expect(queues.isEmpty)
    var last = self.queues([[10]])
    #expect(last.removeQueue(0).count == 2)
    #expect(last.isEmpty)
    #expect(taken(&last) == [])
  }
}
