import KeymodeClient

/// An action of the user at the terminal.
enum Key: Sendable {
  case character(Character)
  case enter
  case backspace
  case tab
  /// A click in this row, from 0.
  case click(row: Int)
}

/// The chat: its messages, the draft, and the modes that keymoded reported.
struct Chat {
  private var messages: [String] = []
  private var draft = ""
  private var shift = "off"
  private var keyboard = "prepareToEditText"
  private var isConnected = false
  /// The error of the last tap.
  var problem: String?

  private let emoji = ["😀", "👍", "🎉"]

  /// Applies an update from keymoded.
  mutating func follow(_ update: Update) {
    switch update {
    case .states(let state):
      isConnected = true
      (shift, keyboard) = (state.modes.shift, state.modes.keyboard)
    case .change(let change):
      switch change.machine {
      case .shift: shift = change.to
      case .keyboard: keyboard = change.to
      }
    // The states that follow have everything that this program needs.
    case .missed: break
    case .disconnected: isConnected = false
    }
  }

  /// Applies an action of the user.
  ///
  /// - Returns: the event to send to keymoded, or `nil`.
  mutating func take(_ key: Key, rows: Int) -> String? {
    problem = nil
    switch (key, keyboard) {
    case (.click(let row), _): return row >= rows - 2 ? "tapTextField" : "tapBlankArea"
    case (.tab, "editingText"), (.tab, "showingPanel"): return "tapBlankArea"
    case (.tab, _): return "tapTextField"
    case (.enter, _) where !draft.isEmpty:
      messages.append(draft)
      draft = ""
    case (.backspace, "editingText"): draft = String(draft.dropLast())
    case (.character(let character), "editingText"):
      draft += shift == "off" ? String(character) : character.uppercased()
    case (.character(let character), "showingPanel"):
      if let number = character.wholeNumberValue, emoji.indices.contains(number - 1) {
        draft += emoji[number - 1]
      }
    default: break
    }
    return nil
  }

  /// The lines on the screen: messages, then two rows with the input area for the present mode.
  func lines(rows: Int) -> [String] {
    let shown = messages.suffix(max(0, rows - 2)).map { "you: \($0)" }
    let blank = [String](repeating: "", count: max(0, rows - 2 - shown.count))
    let mark = ["on": "⇧ ", "capsLock": "⇪ "][shift] ?? ""
    let field = "\(mark)> \(draft)"
    let area =
      switch keyboard {
      case "editingText": [status, field + "▏"]
      case "prepareToRecord": [status, "[ ● hold to talk ]"]
      case "showingPanel":
        [emoji.enumerated().map { "\($0 + 1) \($1)" }.joined(separator: "   "), field]
      default: [status, draft.isEmpty ? "> tap to write" : field]
      }
    return shown + blank + area
  }

  private var status: String { problem ?? (isConnected ? "" : "waiting for keymoded") }
}
