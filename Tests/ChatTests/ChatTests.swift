import KeyboardModes
import KeymodeClient
import TestSupport
import Testing
import Wire

@testable import chat

@Suite("What the chat shows")
struct ChatTests {
  private static func states(_ keyboard: String) -> Update {
    .states(
      StateMessage(
        instance: "i", time: Time(microseconds: 0),
        states: States(
          sequence: 0, shift: "off", shiftSince: nil, keyboard: keyboard, keyboardSince: nil)))
  }

  private static func change(_ event: String, to state: String, at seconds: Double) -> Update {
    .change(
      Change(
        sequence: 1, time: Time(microseconds: Int64(seconds * 1_000_000)), machine: .keyboard,
        from: "", to: state, event: event))
  }

  private func chat(_ updates: Update...) -> Chat {
    var chat = Chat()
    for update in updates { chat.follow(update) }
    return chat
  }

  private func text(_ chat: Chat) -> String { chat.lines((10, 80)).joined(separator: "\n") }

  private func type(_ text: String, into chat: inout Chat) {
    for scalar in text.unicodeScalars { _ = chat.handle(.character(scalar), at: 1, rows: 10) }
  }

  private static let start = change("startTalking", to: "prepareToRecord", at: 5)

  static let endings: [(Update, String?)] = [
    (change("stopTalking", to: "editingText", at: 7.26), "you: 🎤 2.3 s"),
    (change("clickSwitchButton", to: "editingText", at: 6), "you: 🎤 1.0 s"),
    (change("clickMoreButton", to: "showingPanel", at: 6), nil),
    (change("configured", to: "prepareToEditText", at: 6), nil),
    (.disconnected(.connectionLost), nil), (states("prepareToRecord"), nil),
  ]

  @Test(
    "a voice message is sent if the key ends it, and has the length of the hold", arguments: endings
  )
  func voice(_ ending: Update, _ expected: String?) {
    let ended = chat(Self.states("prepareToEditText"), Self.start, ending)
    #expect(text(ended).hasPrefix(expected ?? "A chat with nobody."))
    let next = chat(
      Self.states("prepareToEditText"), Self.start, ending,
      Self.change("x", to: "editingText", at: 9))
    #expect(text(next).filter { $0 == "🎤" }.count == (expected == nil ? 0 : 1))
  }

  @Test("the voice bar says how to end the message")
  func bar() {
    #expect(text(chat(Self.start)).hasSuffix("\n[ ● talking: release the key to send ]"))
    let clicked = Self.change("clickSwitchButton", to: "prepareToRecord", at: 1)
    #expect(text(chat(clicked)).hasSuffix("\n[ ● talking: press the key again to send ]"))
    let found = Self.states("prepareToRecord")
    #expect(text(chat(found)).hasSuffix("\n[ not talking: press the key again ]"))
  }

  @Test("the first screen says how to hold a key, if the user's table has the events of that")
  func help() {
    var chat = chat(Self.states("prepareToEditText"))
    #expect(text(chat).contains("\n  Scroll Lock    talk; press it again to send\n"))
    #expect(text(chat).contains("data/recipes/push-to-talk.yaml"))
    chat.learn(["clickSwitchButton", "startTalking"])
    #expect(text(chat).contains("Scroll Lock"))
    chat.learn(["clickSwitchButton", "startTalking", "stopTalking"])
    #expect(text(chat).contains("\n  F9             talk while you hold it\n"))
    #expect(!text(chat).contains("Scroll Lock"))
  }

  @Test(
    "Backspace deletes what looks like one character",
    arguments: ["a", "ö", "e\u{301}", "日", "😀", "❤\u{fe0f}", "🇩🇪", "👨\u{200d}👩\u{200d}👧", "👍🏽"])
  func backspace(_ character: String) {
    var chat = chat(Self.states("editingText"))
    type("xy" + character, into: &chat)
    #expect(chat.lines((10, 80)).last == "> xy" + character)
    for expected in ["> xy", "> x", "> ", "> "] {
      _ = chat.handle(.backspace, at: 1, rows: 10)
      #expect(chat.lines((10, 80)).last == expected)
    }
  }

  @Test(
    "every screen has as many lines as rows, and none is too wide",
    arguments: ["prepareToEditText", "editingText", "prepareToRecord", "showingPanel"])
  func sizes(_ keyboard: String) {
    var chat = chat(Self.states("editingText"))
    for number in 0..<3 {
      var shown = chat
      shown.follow(Self.change("x", to: keyboard, at: 1))
      for rows in 1...12 {
        for columns in [7, 8, 9, 10, 23, 60] {
          let lines = shown.lines((rows, columns))
          #expect(lines.count == rows)
          #expect(lines.allSatisfy { $0.width <= columns })
          // The cursor needs a column.
          #expect(keyboard != "editingText" || lines.last.map { $0.width < columns } == true)
        }
      }
      if number > 0 { _ = chat.handle(.enter, at: 1, rows: 10) }
      type(String(repeating: "日本語 öäü 😀", count: number * 3 + 1), into: &chat)
    }
  }

  @Test(
    "each error is one line",
    arguments: [
      (.noDaemon(path: "/run/x"), "no keymoded; start it: sudo systemctl start keymoded"),
      (.connectionLost, "no keymoded; start it: sudo systemctl start keymoded"),
      (
        .permissionDenied(path: "/run/x", group: "g"),
        "no permission: only members of the group 'g' may do this"
      ),
      (.permissionDenied(path: "/run/x", group: nil), "no permission to use '/run/x'"),
    ] as [(ClientError, String)])
  func errors(_ error: ClientError, _ expected: String) {
    #expect(error.line == expected)
    #expect(!ClientError.noAnswer(path: "/run/x").line.contains("\n"))
    #expect(text(chat(.disconnected(error))).contains("\n\(expected)\n> "))
  }
}
