import KeyboardModes
import Testing

@testable import Daemon

@Suite("Change ring")
struct ChangeRingTests {
  private func change(_ sequence: Int64) -> Change {
    Change(
      sequence: sequence, time: Time(microseconds: sequence), machine: .shift, from: "a", to: "b",
      event: "e")
  }

  @Test("the ring holds the latest changes, up to its capacity", arguments: [1, 2, 7])
  func capacity(_ capacity: Int) {
    var ring = ChangeRing(capacity: capacity)
    #expect(ring.lastSequence == 0)
    #expect(ring.hasAll(after: 0))
    for number in Int64(1)...20 {
      ring.append(change(number))
      #expect(ring.lastSequence == number)
      for after in 0...number {
        let isThere = number - after <= Int64(capacity)
        #expect(ring.hasAll(after: after) == isThere)
        guard isThere else { continue }
        let expected = (after..<number).map { change($0 + 1) }
        #expect(Array(ring.changes(after: after, upTo: number)) == expected)
      }
    }
  }
}
