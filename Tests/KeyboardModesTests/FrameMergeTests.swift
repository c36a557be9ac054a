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

  @Test("are none where there are none")
  func none() {
    #expect(Frame.merged([]) == [])
    #expect(Frame.merged([[], []]) == [])
  }
}
