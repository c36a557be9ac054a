import Foundation
import Testing
import Wire

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

  /// Messages that are no calls; `JSONTests` and `CallTests` have many more.
  private static let notCalls: [Message] = [
    Message("a byte that is never UTF-8", [0x22, 0xff, 0x22]),
    Message("a method twice", #"{"method":"x","method":"y"}"#),
    Message("objects 10,000 deep", String(repeating: #"{"a":"#, count: 10_000)),
    Message("a list", "[]"),
  ]

  /// Calls with an invalid or unusual member.
  private static let wrongCalls: [Message] = [
    Message("an empty object", "{}"), Message("parameters that are a list", parameters("[]")),
    Message("more that is null", getState(#""more":null"#)),
    Message("a method that is a point", #"{"method":"."}"#),
    Message("a parameter too many", parameters(#"{"a":1}"#)),
    Message("an event that is a state", trigger(#"{"event":"capsLock"}"#)),
    Message("no event", trigger("{}")),
    Message("Monitor without more", #"{"method":"\#(controller).Monitor"}"#),
    Message("after alone", monitor(#"{"after":0}"#)),
    Message("instance alone", monitor(#"{"instance":"x"}"#)),
    Message("after that is a fraction", monitor(#"{"after":0.5,"instance":"x"}"#)),
    Message("a machine that there is not", monitor(#"{"machines":["CAPS"]}"#)),
    Message("no machines", monitor(#"{"machines":[]}"#)),
    Message(
      "the largest number there is",
      monitor(#"{"after":9223372036854775807,"instance":"INSTANCE"}"#)
    ),
  ]

  private static let messages = notCalls + wrongCalls

  @Test("every malformed message gets its Varlink error, and does not disturb other clients")
  func replies() throws {
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
          reply.replacing(/"(time|shift|keyboard)":\d+/) { match in #""\#(match.output.1)":TIME"# }
            .replacing(instance, with: "INSTANCE"))
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
