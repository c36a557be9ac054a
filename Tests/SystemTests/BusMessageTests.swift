import CLinux
import Glibc
import System
import Terminal
import Testing

@testable import System
@testable import Terminal

@Suite("Messages of D-Bus")
struct BusMessageTests {
  /// A call with these arguments.
  private func call(_ values: [BusValue]) throws -> BusMessage {
    let name = "org.example.Test"
    var call = BusCall(to: name, path: "/", interface: name, member: "Test")
    call.arguments = values
    let bus = try TestBus().connect(EventLoop())
    defer { withExtendedLifetime(bus) {} }
    return try BusMessage.call(call, on: bus.handle)
  }

  private func arguments(_ message: borrowing BusMessage) throws -> [BusValue] {
    try message.seal()
    return try message.arguments()
  }

  @Test("the values of a call are read in order, as they were written")
  func roundTrip() throws {
    let values: [BusValue] = [
      .bool(true), .bool(false), .uint32(.max), .uint64(.max), .string(""), .string("é\n"),
      .array(of: "s", []), .array(of: "(su)", [.structure([.string("x"), .uint32(1)])]),
      .array(of: "{sv}", [.entry(.string("k"), .variant(.array(of: "u", [.uint32(0)])))]),
      .variant(.variant(.uint32(7))),
    ]
    #expect(try arguments(call(values)) == values)
    #expect(try arguments(call([])) == [])
  }

  @Test("a value of another type is skipped, and cannot be sent")
  func other() throws {
    let message = try call([.bool(true)])
    var bytes: [UInt8] = [1, 2]
    sd_bus_message_append_array(message.handle, CChar(UInt8(ascii: "y")), &bytes, 2)
    var number = 0.5
    sd_bus_message_append_basic(message.handle, CChar(UInt8(ascii: "d")), &number)
    let read = try arguments(message)
    #expect(read == [.bool(true), .array(of: "y", [.other, .other]), .other])
    #expect(throws: SystemError("write a message", code: EINVAL)) { _ = try call([.other]) }
  }

  @Test("a dictionary's values are found by their keys")
  func dictionary() {
    let dictionary = BusValue.array(
      of: "{sv}", [.entry(.string("a"), .variant(.bool(true))), .entry(.string("b"), .uint32(2))])
    #expect(dictionary["a"] == .bool(true))
    #expect(dictionary["b"] == .uint32(2))
    #expect(dictionary["c"] == nil)
    #expect(BusValue.string("a")["a"] == nil)
  }
}
