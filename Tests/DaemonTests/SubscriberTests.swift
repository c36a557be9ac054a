import KeyboardModes
import Testing
import Wire

@testable import Daemon

@Suite("Subscriber messages")
struct SubscriberTests {
  private static let atOnce = Publisher.changesPerPart

  /// A service that has made `count` changes.
  private func service(_ count: Int, ringCapacity: Int = 1024) -> TestService {
    let service = TestService(ringCapacity: ringCapacity)
    change(service, count)
    return service
  }

  private func change(_ service: TestService, _ count: Int) {
    for _ in 0..<count {
      service.handle([.client(.keyboard(.clickMoreButton), at: Time(microseconds: 0))])
    }
  }

  private func parameters(_ bytes: [UInt8]) throws -> JSON {
    try #require(bytes.last == 0)
    return try Reply(parsing: bytes.dropLast()).parameters
  }

  private func numbers(_ message: JSON) -> [Int64] {
    (message["changes"]?.array ?? []).compactMap { $0["sequence"]?.integer }
  }

  @Test(
    "one message is sent in parts of 32 changes",
    arguments: [1, atOnce - 1, atOnce, atOnce + 1, 2 * atOnce, 1000, 1024])
  func parts(_ count: Int64) throws {
    let service = service(Int(count))
    var position = SubscriberPosition(sequence: 0)
    var bytes: [UInt8] = []
    var parts: Int64 = 0
    while let part = service.publisher.next(for: &position) {
      parts += 1
      #expect(part.count < 8192)
      #expect(position.sequence == min(count, parts * Self.atOnce))
      #expect(position.endOfMessage == (position.sequence == count ? nil : count))
      bytes += part
    }
    #expect(parts == (count + Self.atOnce - 1) / Self.atOnce)
    let message = try parameters(bytes)
    #expect(numbers(message) == Array(1...count))
    #expect(message["state"]?["sequence"] == .integer(count))
    #expect(message["missed"] == 0)
  }

  @Test("a message has the changes known at its start, though more happen while it is sent")
  func changedMeanwhile() throws {
    let service = service(100)
    var position = SubscriberPosition(sequence: 0)
    var bytes: [UInt8] = []
    while true {
      bytes += try #require(service.publisher.next(for: &position))
      if position.endOfMessage == nil { break }
      change(service, 1)
    }
    let first = try parameters(bytes)
    #expect(numbers(first) == Array(1...100))
    #expect(first["state"]?["sequence"] == 100)
    let second = try parameters(try #require(service.publisher.next(for: &position)))
    #expect(numbers(second) == [101, 102, 103])
    #expect(service.publisher.next(for: &position) == nil)
  }

  @Test("a message ends with `missed` if the ring loses its changes while it is sent")
  func lostMeanwhile() throws {
    let service = service(64, ringCapacity: 64)
    var position = SubscriberPosition(sequence: 0)
    var bytes = try #require(service.publisher.next(for: &position))
    change(service, 33)
    bytes += try #require(service.publisher.next(for: &position))
    #expect(position == SubscriberPosition(sequence: 64))
    let message = try parameters(bytes)
    #expect(numbers(message) == Array(1...32))
    #expect(message["state"]?["sequence"] == 64)
    #expect(message["missed"] == 32)
    #expect(service.callHandler().statistics(clients: 0).missed == 1)
    // The next message has all 33 later changes.
    bytes = try #require(service.publisher.next(for: &position))
    bytes += try #require(service.publisher.next(for: &position))
    #expect(numbers(try parameters(bytes)) == Array(65...97))
  }

  @Test("a client that subscribes gets the present time, whatever was sent to others before")
  func freshTime() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(Settings(), keyboards)
    change(service, 2)
    let instance = service.service.engine.instance
    for time: Int64 in [7, 3_000_007] {
      keyboards.now = Time(microseconds: time)
      let first = try service.firstMessage(after: 1, instance: instance)
      #expect(first.state.time == keyboards.now)
      #expect(first.changes.map(\.sequence) == [2])
    }
  }

  @Test("a subscriber to one machine gets its changes, in parts, and passes over all others")
  func oneMachine() throws {
    let service = service(40)
    let shift: [Controller.Input] = [.client(.shiftPressed, at: Time(microseconds: 0))]
    service.handle(shift)
    change(service, 40)
    service.handle(shift)
    change(service, 5)
    var position = SubscriberPosition(sequence: 0, machines: [.shift])
    var bytes: [UInt8] = []
    repeat {
      bytes += try #require(service.publisher.next(for: &position))
    } while position.endOfMessage != nil
    let message = try parameters(bytes)
    #expect(numbers(message) == [41, 82])
    #expect(message["state"]?["sequence"] == 87)
    #expect(message["missed"] == 0)
    #expect(position == SubscriberPosition(sequence: 87, machines: [.shift]))
    change(service, 5)
    #expect(service.publisher.next(for: &position) == nil)
    #expect(position.sequence == 92)
  }

  @Test("of one machine, only what the ring has lost is missed")
  func oneMachineLost() throws {
    let service = service(0, ringCapacity: 64)
    var position = SubscriberPosition(sequence: 0, machines: [.shift])
    for _ in 0..<10 {
      change(service, 64)
      #expect(service.publisher.next(for: &position) == nil)
    }
    change(service, 65)
    let message = try parameters(try #require(service.publisher.next(for: &position)))
    #expect(numbers(message) == [])
    #expect(message["missed"] == 65)
  }

  @Test("subscribers at the same sequence share memory, also beside one to one machine")
  func sharedBesideOne() throws {
    let service = service(3)
    let addresses = (0..<3).map { _ in
      var one = SubscriberPosition(sequence: 0, machines: [.keyboard])
      #expect(service.publisher.next(for: &one)?.isEmpty == false)
      var position = SubscriberPosition(sequence: 0)
      return service.publisher.next(for: &position)?.withUnsafeBytes { $0.baseAddress }
    }
    #expect(addresses[0] != nil && Set(addresses).count == 1)
  }
}

@Suite("Long replies")
struct LongReplyTests {
  @Test("equal long replies share memory")
  func shared() throws {
    let callHandler = TestService().callHandler()
    let interface = JSON.Member("interface", .string(ControllerInterface.name))
    let call = Call("org.varlink.service.GetInterfaceDescription", [interface])
    let replies = (0..<2).map { _ -> [UInt8] in
      let answer = callHandler.answer(call, access: .reading, clients: 1)
      return if case .reply(let bytes) = answer { bytes } else { [] }
    }
    #expect(replies[0].count > 4096)
    let addresses = replies.map { $0.withUnsafeBytes(\.baseAddress) }
    #expect(addresses[0] == addresses[1])
  }
}
