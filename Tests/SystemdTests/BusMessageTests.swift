import Glibc
import SystemCalls
import Testing

@testable import Systemd

@Suite("Messages of D-Bus")
struct BusMessageTests {
  @Test(
    "a value of every type is read as it was written",
    arguments: [
      .byte(255), .bool(true), .bool(false), .int16(.min), .uint16(.max), .int32(.min),
      .uint32(.max), .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("é\n"),
      .objectPath("/a/b"), .signature("a{sv}"), .array(of: "s", []),
      .array(of: "(su)", [.structure([.string("x"), .uint32(1)])]),
      .array(of: "{sv}", [.entry(.string("k"), .variant(.array(of: "y", [.byte(0)])))]),
      .variant(.variant(.int32(7))),
    ] as [BusValue])
  func roundTrip(_ value: BusValue) throws {
    #expect(try arguments([value]) == [value])
  }

  @Test("the arguments of a call are read in order")
  func order() throws {
    let values: [BusValue] = [.string("a"), .uint32(2), .variant(.bool(true))]
    #expect(try arguments(values) == values)
    #expect(try arguments([]) == [])
  }

  /// Any program of the user can send more, which would fill the memory.
  @Test(
    "a message is read up to 65,536 values and bytes of texts",
    arguments: [.byte(0), .string(""), .entry(.string(""), .variant(.bool(true)))] as [BusValue])
  func greed(_ element: BusValue) throws {
    func long(_ count: Int) -> [BusValue] {
      [.array(of: element.signature, Array(repeating: element, count: count))]
    }
    #expect(try arguments(long(1000)).first?.elements?.count == 1000)
    #expect(throws: SystemError("read a message", code: EMSGSIZE)) { try arguments(long(65_536)) }
  }

  @Test("a text is read up to 65,535 bytes")
  func longText() throws {
    let text = String(repeating: "a", count: 65_535)
    #expect(try arguments([.string(text)]) == [.string(text)])
    #expect(throws: SystemError("read a message", code: EMSGSIZE)) {
      try arguments([.string(text + "a")])
    }
  }

  /// What is read from a call with these arguments.
  private func arguments(_ values: [BusValue]) throws -> [BusValue] {
    let name = "org.example.Test"
    var call = BusCall(to: name, path: "/", interface: name, member: "Test")
    call.arguments = values
    let bus = try TestBus().connect(EventLoop())
    let message = try BusMessage.call(call, on: bus.handle)
    try message.seal()
    return try message.arguments()
  }

  @Test(
    "a text of D-Bus is the text of a string, a path or a signature",
    arguments: [
      (.string("a"), "a"), (.objectPath("/"), "/"), (.signature("i"), "i"), (.int32(1), nil),
    ] as [(BusValue, String?)])
  func text(_ value: BusValue, _ text: String?) { #expect(value.text == text) }

  @Test("a dictionary gives the value of a key without its variant")
  func dictionary() {
    let values: BusValue = .array(
      of: "{sv}",
      [.entry(.string("a"), .variant(.bool(true))), .entry(.string("b"), .variant(.int32(1)))])
    #expect(values["a"] == .bool(true))
    #expect(values["b"] == .int32(1))
    #expect(values["c"] == nil)
    #expect(BusValue.bool(true)["a"] == nil)
  }
}
