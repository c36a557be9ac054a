import Testing
import Wire

/// Names, and what an error repeats of them.
private let shortenedNames: [(String, String)] = [
  (String(repeating: "a", count: 256), String(repeating: "a", count: 256)),
  (String(repeating: "a", count: 257), String(repeating: "a", count: 256)),
  (String(repeating: "\u{7f}", count: 65_000), String(repeating: "\u{7f}", count: 256)),
  ("a" + String(repeating: "é", count: 128), "a" + String(repeating: "é", count: 127)),
  (String(repeating: "👍", count: 65), String(repeating: "👍", count: 64)),
  ("abc" + String(repeating: "👍", count: 65), "abc" + String(repeating: "👍", count: 63)),
  (
    "e" + String(repeating: "\u{301}", count: 300),
    "e" + String(repeating: "\u{301}", count: 127)
  ),
]

@Suite("Call")
struct CallTests {
  @Test("a call is parsed from its message")
  func reading() throws {
    let text = #"{"method":"a.b.C","parameters":{"x":1},"more":true,"oneway":false,"other":[]}"#
    #expect(try Call(parsing: Array(text.utf8)) == Call("a.b.C", [.init("x", 1)], wantsMore: true))
    #expect(
      try Call(parsing: Array(#"{"method":"C","oneway":true,"parameters":null}"#.utf8))
        == Call("C", isOneway: true))
  }

  @Test("the message of a call parses to the same call")
  func roundTrip() throws {
    let call = Call("a.B", [.init("x", ["y": nil])], wantsMore: true, isOneway: true)
    #expect(call.message.last == 0)
    #expect(try Call(parsing: call.message.dropLast()) == call)
  }

  @Test(
    "a call with a missing or invalid member is refused, naming the member",
    arguments: [
      ("{}", "method"), (#"{"method":1}"#, "method"),
      (#"{"method":"m","parameters":[]}"#, "parameters"),
      (#"{"method":"m","more":1}"#, "more"), (#"{"method":"m","oneway":"yes"}"#, "oneway"),
      (#"{"method":"m","upgrade":true}"#, "upgrade"),
    ])
  func members(_ text: String, _ name: String) {
    #expect(throws: Call.ParsingError.invalidMember(name)) { try Call(parsing: Array(text.utf8)) }
  }

  @Test(
    "a message that is not a JSON object is refused", arguments: ["", "[]", "1", "{", #""method""#])
  func notJSON(_ text: String) {
    #expect(throws: Call.ParsingError.notJSON) { try Call(parsing: Array(text.utf8)) }
  }
}

@Suite("Reply")
struct ReplyTests {
  @Test("replies are written as the protocol defines")
  func writing() {
    func text(_ reply: Reply) -> String { String(decoding: reply.message, as: UTF8.self) }
    #expect(text(Reply()) == "{\"parameters\":{}}\u{0}")
    #expect(
      text(Reply(["a": 1], continues: true)) == "{\"parameters\":{\"a\":1},\"continues\":true}\u{0}"
    )
    #expect(
      text(Reply(VarlinkError.invalidParameter("x")))
        == "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"x\"}}\u{0}"
    )
  }

  @Test(
    "an error repeats at most 256 bytes of a name, in whole code points",
    arguments: shortenedNames)
  func longNames(_ name: String, _ repeated: String) {
    #expect(VarlinkError.invalidParameter(name).parameters["parameter"] == .string(repeated))
    #expect(VarlinkError.methodNotFound(name).parameters["method"] == .string(repeated))
    #expect(VarlinkError.interfaceNotFound(name).parameters["interface"] == .string(repeated))
  }

  @Test("the message of a reply parses to the same reply")
  func roundTrip() throws {
    for reply in [Reply(["a": [1]]), Reply(["b": 2], continues: true), Reply(.expectedMore)] {
      #expect(try Reply(parsing: reply.message.dropLast()) == reply)
    }
  }
}

@Suite("Service info")
struct ServiceInfoTests {
  @Test("GetInfo names the service and its interfaces")
  func getInfo() throws {
    #expect(
      try ServiceInfo.answer(Call("org.varlink.service.GetInfo")) == [
        "vendor": "keymoded", "product": "keymoded", "version": .string(keymodedVersion),
        "url": "", "interfaces": ["org.varlink.service", "org.keymoded.Controller"],
      ])
  }

  @Test("GetInterfaceDescription returns the text of an interface")
  func getInterfaceDescription() throws {
    func describe(_ parameters: [JSON.Member]) throws -> JSON? {
      try ServiceInfo.answer(Call("org.varlink.service.GetInterfaceDescription", parameters))
    }
    #expect(
      try describe([.init("interface", "org.keymoded.Controller")])
        == ["description": .string(ControllerInterface.description)])
    let own = try describe([.init("interface", "org.varlink.service")])
    #expect(own?["description"]?.string?.contains("interface org.varlink.service") == true)
    #expect(throws: VarlinkError.interfaceNotFound("no.such")) {
      try describe([.init("interface", "no.such")])
    }
    #expect(throws: VarlinkError.invalidParameter("interface")) { try describe([]) }
    #expect(throws: VarlinkError.invalidParameter("interface")) {
      try describe([.init("interface", 1)])
    }
    #expect(throws: VarlinkError.invalidParameter("extra")) {
      try describe([.init("interface", "x"), .init("extra", 1)])
    }
  }

  @Test("the types of the interface have the names that generated clients use")
  func typeNames() {
    let lines = ControllerInterface.description.split(separator: "\n")
    #expect(
      lines.filter { $0.hasPrefix("type ") } == [
        "type State (", "type Change (", "type Row (", "type Machine (", "type Device (",
        "type Hold (",
      ])
    #expect(lines.contains("method ListMachines() -> (machines: []Machine)"))
  }

  @Test(
    "a call of another interface gets no answer, and its error names the missing interface or method"
  )
  func others() throws {
    let missing = "\(ControllerInterface.name).M"
    #expect(try ServiceInfo.answer(Call(missing)) == nil)
    #expect(ServiceInfo.notFound(Call(missing)) == .methodNotFound(missing))
    #expect(ServiceInfo.notFound(Call("org.example.B.M")) == .interfaceNotFound("org.example.B"))
    #expect(ServiceInfo.notFound(Call("nonsense")) == .interfaceNotFound(""))
  }
}
