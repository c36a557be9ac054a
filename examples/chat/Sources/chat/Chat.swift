import KeymodeClient

/// What the input area shows: the states of the shipped table. A user's own table may have others,
/// which this program does not know.
enum Area: String { case prepareToEditText, prepareToRecord, editingText, showingPanel }

/// The chat: its messages, the draft, and the states that keymoded reported.
struct Chat {
  private var messages: [[Letter]] = []
  private var draft: [Letter] = []
  private var capitals = Capitals()
  private var shift = "off"
  /// `nil` in a state that this program does not know.
  private var area: Area? = .prepareToEditText
  /// The event that began a voice message, and its time in microseconds.
  private var talking: (isHeld: Bool, time: Int64)?
  /// Whether the user's table has the events of push-to-talk.
  private var canHold = false
  /// What is wrong with the connection; empty if nothing is.
  private var connection = "waiting for keymoded"
  /// What went wrong last.
  var problem: String?

  private let emoji = ["😀", "👍", "🎉"]

  /// Whether the text field has the cursor.
  var isEditing: Bool { area == .editingText }

  /// Applies an update from keymoded.
  mutating func follow(_ update: Update) {
    switch update {
    case .states(let state):
      (connection, problem) = ("", nil)
      begin(state.states[.shift] ?? "")
      area = state.states[.keyboard].flatMap(Area.init)
    case .change(let change):
      let time = change.time.microseconds
      switch change.machine {
      case .shift:
        shift = change.to
        capitals.changed(by: change.event, to: change.to, at: time)
      case .keyboard:
        area = Area(rawValue: change.to)
        talk(change.event, at: time)
      // The locks have made their characters already; other machines are not for a chat.
      default: break
      }
    case .missed: break  // States follow, which have everything that this program needs.
    case .disconnected(let error):
      connection = error.line
      begin("off")
    }
  }

  /// Begins anew with a state of Shift, and drops a voice message whose end may be missed.
  private mutating func begin(_ shift: String) {
    self.shift = shift
    capitals.begin(shift)
    talking = nil
  }

  /// Begins or ends a voice message. A program with a microphone opens and closes it here.
  private mutating func talk(_ event: String, at time: Int64) {
    if area == .prepareToRecord {
      talking = (isHeld: event == "startTalking", time)
    } else if let began = talking {
      talking = nil
      // Any other event, such as one that shows the panel, drops the message.
      guard ["stopTalking", "clickSwitchButton"].contains(event) else { return }
      let duration = Double(time &- began.time)
      messages.append([Letter("🎤 \((duration / 100_000).rounded() / 10) s")])
    }
  }

  /// Learns which events the machines have.
  mutating func learn(_ events: [String]) {
    canHold = events.contains("startTalking") && events.contains("stopTalking")
  }

  /// Applies an action that was read at this time.
  ///
  /// - Returns: the event to send to keymoded, or `nil`.
  mutating func handle(_ action: Action, at time: Int64, rows: Int) -> String? {
    if action != .resize { problem = nil }
    switch action {
    case .click(let row): return row >= rows - 2 ? "tapTextField" : "tapBlankArea"
    case .tab:
      switch area {
      case .editingText, .showingPanel: return "tapBlankArea"
      case .prepareToEditText, .prepareToRecord, nil: return "tapTextField"
      }
    case .enter:
      guard !draft.isEmpty else { break }
      // A program with a network sends it 0.1 s later, when no letter becomes a capital any more.
      messages.append(draft)
      draft = []
    case .backspace: if isEditing { deleteLast() }
    case .character(let scalar): type(String(scalar), at: time)
    case .resize, .interrupt: break
    }
    return nil
  }

  /// Each character counts for Shift, also one that this state ignores.
  private mutating func type(_ text: String, at time: Int64) {
    let letter = capitals.typed(text, at: time)
    switch area {
    case .editingText: draft.append(letter)
    case .showingPanel:
      if let number = Int(text), emoji.indices.contains(number - 1) {
        draft.append(Letter(emoji[number - 1]))
      }
    case .prepareToEditText, .prepareToRecord, nil: break
    }
  }

  /// Deletes what looks like one character: an e with its accent, or all parts of a flag.
  private mutating func deleteLast() {
    let count = draft.text.count
    while !draft.isEmpty, draft.text.count == count { draft.removeLast() }
  }

  /// The lines on the screen, as many as it has rows: messages, then two with the input area for the
  /// present state.
  func lines(_ size: (rows: Int, columns: Int)) -> [String] {
    let mark = ["on": "⇧ ", "capsLock": "⇪ "][shift] ?? ""
    let start = "\(mark)> "
    // A column is left for the cursor.
    let field = start + draft.text.end(columns: size.columns - start.width - 1)
    let status = problem ?? connection
    let input =
      switch area {
      case .editingText: [status, field]
      case .prepareToRecord: [status, voiceBar]
      case .showingPanel:
        [emoji.enumerated().map { "\($0 + 1) \($1)" }.joined(separator: "   "), field]
      case .prepareToEditText, nil:
        [status, draft.isEmpty ? "> Insert, Tab or a click here: write" : field]
      }
    let room = max(0, size.rows - input.count)
    let texts = messages.flatMap { "you: \($0.text)".wrapped(columns: size.columns) }
    let shown = messages.isEmpty ? Array(help.prefix(room)) : texts.suffix(room)
    let blank = Array(repeating: "", count: room - shown.count)
    // What is too long for a narrow terminal loses its end.
    return (shown + blank + input).suffix(size.rows).map { $0.wrapped(columns: size.columns)[0] }
  }

  private var voiceBar: String {
    guard let talking else { return "[ not talking: press the key again ]" }
    return "[ ● talking: \(talking.isHeld ? "release the key" : "press the key again") to send ]"
  }

  /// The first screen.
  private var help: [String] {
    let talk =
      canHold
      ? ["  F9             talk while you hold it"]
      : [
        "  Scroll Lock    talk; press it again to send",
        "                 (data/recipes/push-to-talk.yaml: hold F9 instead)",
      ]
    return [
      "A chat with nobody. Unless you have bound others, these are the keys:",
      "  Insert, Tab    write; Esc or Tab ends it",
    ] + talk + [
      "  Menu           emoji",
      "  Shift          one capital; pressed twice, capitals until the next press",
      "  Ctrl+C         end",
    ]
  }
}

extension [Letter] {
  /// The text of these letters.
  var text: String { map(\.text).joined() }
}

extension ClientError {
  /// What is wrong, and what to do, in one line.
  var line: String {
    switch self {
    case .noDaemon, .connectionLost: "no keymoded; start it: sudo systemctl start keymoded"
    case .permissionDenied(_, let group?):
      "no permission: only members of the group '\(group)' may do this"
    default: "\(self)".split(separator: "\n").joined(separator: " ")
    }
  }
}
