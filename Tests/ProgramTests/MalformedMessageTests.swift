import Foundation
import JSON
import Testing

/// Malformed messages from clients; `Malformed.expected` has the replies to each.
@Suite("Malformed messages")
struct MalformedMessageTests {
  private struct Message {
    let name: String
    let bytes: [UInt8]

    init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }

    init(_ name: String, _ bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }
  }

  private static let expectations = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Malformed.expected")

  private static let controller = "org.keymoded.Controller"

  /// A call of `GetState` with `text` as its parameters.
  private static func parameters(_ text: String) -> String {
    #"{"method":"\#(controller).GetState","parameters":\#(text)}"#
  }

  private static func getState(_ member: String) -> String {
    #"{"method":"\#(controller).GetState",\#(member)}"#
  }

  private static func trigger(_ parameters: String) -> String {
    #"{"method":"\#(controller).Trigger","parameters":\#(parameters)}"#
  }

  private static func monitor(_ parameters: String) -> String {
    #"{"method":"\#(controller).Monitor","more":true,"parameters":\#(parameters)}"#
  }

  private static func sized(_ bytes: Int) -> String {
    let call = getState(#""more":false"#)
    return call + String(repeating: " ", count: bytes - call.utf8.count)
  }

  /// Messages that are not JSON.
  private static let notJSON: [Message] = [
    Message("nothing", ""), Message("a space", " "), Message("a word", "hello"),
    Message("HTTP", "GET / HTTP/1.1\r\n\r\n"),
    Message("an open object", "{"), Message("an open string", #"{"method":"x"#),
    Message("a closed object", "}"),
    Message("two objects", "{}{}"), Message("a comma at the end", #"{"method":"x",}"#),
    Message("single quotes", "{'method':'x'}"), Message("a name without quotes", "{method:1}"),
    Message("a comment", #"/**/{"method":"x"}"#),
    Message("a line end in a string", "{\"method\":\"x\ny\"}"),
    Message("a tab in a string", "{\"method\":\"x\ty\"}"),
    Message("NaN", parameters(#"{"a":NaN}"#)),
    Message("infinity", parameters(#"{"a":Infinity}"#)),
    Message("a hexadecimal number", parameters("0x10")),
    Message("a number with a plus", parameters("+1")),
    Message("a number with zeros before it", parameters("01")),
    Message("a number without digits", parameters("-")),
    Message("a point without digits", parameters("1.")),
    Message("an unknown escape", #"{"method":"\x41"}"#),
    Message("half an escape", #"{"method":"\u12"}"#),
  ]

  /// Messages that are JSON, but are refused before they are read as calls.
  private static let notTaken: [Message] = [
    Message("a high surrogate alone", #"{"method":"\ud800"}"#),
    Message("a low surrogate alone", #"{"method":"\udc00"}"#),
    Message("surrogates in the wrong order", #"{"method":"\udc00\ud800"}"#),
    Message("the character NUL", #"{"method":"a\u0000b"}"#),
    Message("the character NUL in a name", #"{"a\u0000b":1,"method":"x"}"#),
    Message("a method twice", #"{"method":"x","method":"y"}"#),
    Message("a parameter twice", trigger(#"{"event":"tapTextField","event":"tapBlankArea"}"#)),
    Message("a number past Int64", monitor(#"{"after":9223372036854775808,"instance":"x"}"#)),
    Message("a number before Int64", monitor(#"{"after":-9223372036854775809,"instance":"x"}"#)),
    Message("a number of 400 digits", parameters(String(repeating: "9", count: 400))),
    Message("a number past Double", parameters("1e400")),
    Message(
      "lists 17 deep",
      parameters(String(repeating: "[", count: 16) + String(repeating: "]", count: 16))
    ),
    Message(
      "lists 10,000 deep",
      String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
    ),
    Message("objects 10,000 deep", String(repeating: #"{"a":"#, count: 10_000)),
    Message("open lists, 64 KiB of them", String(repeating: "[", count: 65_536)),
    Message("a list", "[]"), Message("a string", #""method""#), Message("a number", "1"),
    Message("null", "null"),
    Message("true", "true"),
    Message("one byte more than 64 KiB", sized(65_537)),
    Message("a string of 64 KiB", "\"" + String(repeating: "a", count: 65_536)),
  ]

  /// Calls with an invalid or unusual member.
  private static let wrongCalls: [Message] = [
    Message("an empty object", "{}"), Message("a method that is a number", #"{"method":7}"#),
    Message("a method that is null", #"{"method":null}"#),
    Message("a method that is a list", #"{"method":["x"]}"#),
    Message("parameters that are a list", parameters("[]")),
    Message("parameters that are a string", parameters(#""x""#)),
    Message("more that is a number", getState(#""more":1"#)),
    Message("oneway that is a string", getState(#""oneway":"no""#)),
    Message("upgrade that is null", getState(#""upgrade":null"#)),
    Message("more that is null", getState(#""more":null"#)),
    Message("a member that nobody knows", getState(#""colour":"red""#)),
    Message("a method of its own name", #"{"method":"Method"}"#),
    Message("an empty method", #"{"method":""}"#),
    Message("a method that is a point", #"{"method":"."}"#),
    Message("a method with two points", #"{"method":"org..x"}"#),
    Message("a method in other letters", #"{"method":"ORG.KEYMODED.CONTROLLER.GETSTATE"}"#),
    Message("a method with a space", #"{"method":"\#(controller).GetState "}"#),
    Message("the interface alone", #"{"method":"\#(controller)"}"#),
    Message(
      "a method of 60,000 letters", #"{"method":"a.\#(String(repeating: "b", count: 60_000))"}"#),
    Message("a method of service that there is not", #"{"method":"org.varlink.service.Quit"}"#),
    Message(
      "the description of nothing", #"{"method":"org.varlink.service.GetInterfaceDescription"}"#),
    Message(
      "the description of an interface that there is not",
      #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a.b"}}"#
    ),
    Message("a parameter too many", parameters(#"{"a":1}"#)),
    Message("a parameter with an empty name", parameters(#"{"":1}"#)),
    Message("an event that is a number", trigger(#"{"event":1}"#)),
    Message("an event that is a state", trigger(#"{"event":"capsLock"}"#)),
    Message("an event that is empty", trigger(#"{"event":""}"#)),
    Message("no event", trigger("{}")),
    Message("two events", trigger(#"{"event":["tapTextField","tapBlankArea"]}"#)),
    Message("Monitor without more", #"{"method":"\#(controller).Monitor"}"#),
    Message("after alone", monitor(#"{"after":0}"#)),
    Message("instance alone", monitor(#"{"instance":"x"}"#)),
    Message("after that is a fraction", monitor(#"{"after":0.5,"instance":"x"}"#)),
    Message(
      "after that is a whole number with a fraction", monitor(#"{"after":1.0,"instance":"x"}"#)),
    Message("after that is a string", monitor(#"{"after":"0","instance":"x"}"#)),
    Message("instance that is a number", monitor(#"{"after":0,"instance":1}"#)),
    Message("after that is true", monitor(#"{"after":true,"instance":"x"}"#)),
    Message(
      "the largest number there is",
      monitor(#"{"after":9223372036854775807,"instance":"INSTANCE"}"#)
    ),
    Message(
      "the smallest number there is",
      monitor(#"{"after":-9223372036854775808,"instance":"INSTANCE"}"#)
    ),
  ]

  /// Messages with invalid or unusual bytes.
  private static let notUTF8: [Message] = [
    Message("a byte that is never UTF-8", [0x22, 0xff, 0x22]),
    Message("UTF-8 cut off", [0x22, 0x61, 0xe2, 0x82, 0x22]),
    Message("overlong UTF-8", [0x22, 0xc0, 0xaf, 0x22]),
    Message("a surrogate in UTF-8", [0x22, 0xed, 0xa0, 0x80, 0x22]),
    Message("beyond Unicode in UTF-8", [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]),
    Message("a byte order mark", [0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
    Message("UTF-16", [0x7b, 0x01, 0x7d, 0x01]),
    Message("an escape of a terminal", [0x22, 0x1b, 0x5b, 0x32, 0x4a, 0x22]),
  ]

  private static let messages = notJSON + notUTF8 + notTaken + wrongCalls

  @Test("every malformed message gets its Varlink error, and does not disturb other clients")
  func replies() throws {
    #expect(Self.messages.count >= 60)
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let state = try daemon.client().result("\(Self.controller).GetState")["state"]
    let instance = try #require(state?["instance"]?.string)
    var said = ""
    for (count, message) in Self.messages.enumerated() {
      let client = try daemon.client(\.controlSocket)
      let text = String(decoding: message.bytes, as: UTF8.self)
      client.send(
        text.contains("INSTANCE")
          ? Array(text.replacingOccurrences(of: "INSTANCE", with: instance).utf8) : message.bytes)
      client.send([0])
      // A client that is still connected gets an error for this unknown method.
      client.send(#"{"method":"end.Method"}"# + "\u{0}")
      var replies: [String] = []
      while replies.last?.contains(#"{"interface":"end"}"#) != true {
        guard let reply = try client.message() else {
          replies.append("(closed)")
          break
        }
        // Times and the instance differ from run to run.
        replies.append(
          reply.replacing(/"(time|shiftSince)":\d+/) { match in #""\#(match.output.1)":TIME"# }
            .replacing(
              instance, with: "INSTANCE"
            )
            .replacing(/b{100,}/, with: "b…"))
      }
      if replies.last != "(closed)" { replies.removeLast() }
      said += "\(message.name)\n\(replies.map { "  \($0)\n" }.joined())"
      try daemon.change(1)
      #expect(try innocent.sequences(1) == [Int64(count + 1)], "beside \(message.name)")
    }
    if ProcessInfo.processInfo.environment["REMAKE_EXPECTATIONS"] != nil {
      try said.write(to: Self.expectations, atomically: true, encoding: .utf8)
      Issue.record("\(Self.expectations.lastPathComponent) was made anew: look at it")
    }
    #expect(try String(contentsOf: Self.expectations, encoding: .utf8) == said)
    #expect(daemon.process.isRunning)
  }
}
