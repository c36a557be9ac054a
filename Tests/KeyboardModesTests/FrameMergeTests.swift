import KeyboardModes
import Testing

@Suite("Frames of several devices")
struct FrameMergeTests {
  private func frame(_ device: Int, _ time: Int64) -> Frame {
    Frame(time: Time(microseconds: time), device: DeviceID(order: device), inputs: [])
  }

  @Test("are merged by time, then by the order of opening")
  func merged() {
    let queues = [
      [frame(0, 10), frame(0, 30), frame(0, 50)],
      [frame(1, 10), frame(1, 20)],
      [],
      [frame(3, 5), frame(3, 60)],
    ]
    #expect(
      Frame.merged(queues) == [
        frame(3, 5), frame(0, 10), frame(1, 10), frame(1, 20), frame(0, 30), frame(0, 50),
        frame(3, 60),
      ])
  }

  @Test("of one device stay in the order in which they were read")
  func ofOneDevice() {
    let odd = [frame(0, 30), frame(0, 10), frame(0, 20)]
    #expect(Frame.merged([odd]) == odd)
    #expect(
      Frame.merged([odd, [frame(1, 15)]])
        == [frame(1, 15), frame(0, 30), frame(0, 10), frame(0, 20)])
  }

  @Test("wait where they are later than what all devices were read up to, and none is overtaken")
  func upToALimit() {
    var queues = [
      [frame(0, 10), frame(0, 30), frame(0, 20)],
      [frame(1, 31), frame(1, 12)],
      [frame(2, 11), frame(2, 20)],
    ]
    let first = Frame.merged(takenFrom: &queues, upTo: Time(microseconds: 20))
    #expect(first == [frame(0, 10), frame(2, 11), frame(2, 20)])
    #expect(queues == [[frame(0, 30), frame(0, 20)], [frame(1, 31), frame(1, 12)], []])
    let rest = Frame.merged(takenFrom: &queues, upTo: Time(microseconds: 40))
    #expect(rest == [frame(0, 30), frame(0, 20), frame(1, 31), frame(1, 12)])
    #expect(queues == [[], [], []])
  }

  @Test("are none where there are none")
  func none() {
    #expect(Frame.merged([]) == [])
    #expect(Frame.merged([[], []]) == [])
  }
}
