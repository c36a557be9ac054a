import KeyboardModes
import Keyboards

/// The keyboard machine's table and bindings:
///
///     keyboard:
///       bindings:
///         clickSwitchButton: [Scroll_Lock, Super+V, KEY_LEFTCTRL+KEY_DOT]
///         startTalking: [F9]
///         stopTalking: [F9 release]
extension ConfigurationReader {
  mutating func readKeyboard(_ node: Node) {
    let values = members(of: node, "keyboard", known: ["bindings", "table"])
    if let table = values["table"] { readTable(table) }
    let table = configuration.settings.keyboard
    for event in KeyboardTable.standard.events where !table.events.contains(event) {
      configuration.settings.bindings.unbind(event)
    }
    guard let bindings = values["bindings"] else { return }
    let lists = members(of: bindings, "bindings", known: table.eventNames, each: "event")
    // An event without a value keeps its default keys; an empty list removes them.
    let named = table.events.filter {
      lists[table.name(ofEvent: $0)].map { !$0.isEmpty } ?? false
    }
    for event in named { configuration.settings.bindings.unbind(event) }
    var bound: [Bound] = []
    var marks: [Slot: Mark] = [:]
    let wanted = named.flatMap { event in
      (lists[table.name(ofEvent: event)]?.elements ?? []).map { (event, $0) }
    }
    // Of two bindings of a chord, the later one is the error.
    for (event, node) in wanted.sorted(by: { $0.1.mark < $1.1.mark }) {
      guard let (chord, use) = bind(node, to: event, after: marks) else { continue }
      bound.append(Bound(chord: chord, use: use, event: event, mark: node.mark))
      marks[Slot(chord, use)] = node.mark
    }
    // Whether a warning is due depends on all bindings.
    for binding in bound {
      warnOfCounterpart(of: binding)
      if binding.use == .release { warnOfRelease(by: binding) }
    }
  }

  /// A binding of the files.
  private struct Bound {
    let chord: Chord
    let use: Use
    let event: KeyboardTable.Event
    let mark: Mark
  }

  /// What can be bound once: a use of a chord, whatever the duration of a hold.
  private struct Slot: Hashable {
    let chord: Chord
    let use: Use

    init(_ chord: Chord, _ use: Use) {
      self.chord = chord
      if case .hold = use { self.use = .hold(.zero) } else { self.use = use }
    }
  }

  /// Binds the chord of `node`, and returns it with its use; `nil` after an error.
  ///
  /// - Parameter marks: where the files bind what is bound before.
  private mutating func bind(
    _ node: Node, to event: KeyboardTable.Event, after marks: [Slot: Mark]
  ) -> (Chord, Use)? {
    if case .mapping = node.content {
      fail("write the key and its use as one text, such as 'F9 release'", at: node)
      return nil
    }
    guard let text = scalar(node), let (chord, use) = binding(text, at: node) else { return nil }
    guard let other = configuration.settings.bindings.bind(chord, use, to: event) else {
      return (chord, use)
    }
    let name = configuration.settings.keyboard.name(ofEvent: other)
    if other == event {
      fail("'\(text)' is already in this list", at: node)
    } else if let earlier = marks[Slot(chord, use)] {
      let place = place(of: earlier, seenFrom: node.mark)
      fail("'\(text)' is already bound to \(name) \(place)", at: node)
    } else {
      fail(
        "by default '\(text)' is bound to \(name); "
          + "to free it, list other keys for \(name), or none: '\(name): []'",
        at: node)
    }
    return nil
  }

  /// Warns if a key is bound that most keyboards lack, and the key of the same label is not bound
  /// to the same event.
  private mutating func warnOfCounterpart(of binding: Bound) {
    let (bindings, chord) = (configuration.settings.bindings, binding.chord)
    guard let (label, key) = chord.key.counterpart else { return }
    if bindings[chord.with(key)] == bindings[chord] { return }
    let names = [key, chord.key].map { eventCodeName(1, $0.number) ?? "" }
    warn("the key \(label) of PC keyboards sends \(names[0]), not \(names[1])", at: binding.mark)
  }

  /// Warns if nothing is bound to a chord but its release: perhaps the key was changed in one of two
  /// places. Warns too if the press and the release of a chord send the same event. Such an event
  /// enters a state and leaves it; if another key leaves the state before the release, the release
  /// enters it again.
  private mutating func warnOfRelease(by binding: Bound) {
    let events = configuration.settings.bindings[binding.chord]?.events ?? []
    let name = configuration.settings.keyboard.name(ofEvent: binding.event)
    if events.allSatisfy({ $0.use == .release }) {
      warn("nothing is bound to the press of \(binding.chord.shortName)", at: binding.mark)
    } else if events.contains(where: { $0.use == .press && $0.event == binding.event }) {
      warn(
        "the press sends \(name), too: if another key changes the state meanwhile, the release may "
          + "begin what it should end; use two events", at: binding.mark)
    }
  }

  /// A chord, and how it is used.
  private mutating func binding(_ text: String, at node: Node) -> (Chord, Use)? {
    let parts = ChordText(text)
    let names = parts.names
    var keys: [KeyCode] = []
    for (index, name) in names.enumerated() {
      // A name with a space in it was probably meant to be one.
      let isLast = index == names.count - 1
      let whole = isLast && !parts.rest.isEmpty && !parts.hasUse ? "\(name) \(parts.rest)" : name
      guard !name.isEmpty else {
        fail(names.count == 1 ? "the key name is empty" : "a key is missing beside a '+'", at: node)
        return nil
      }
      guard let key = KeyCode(writtenAs: name) else {
        fail(unknownKey(whole), at: node.mark(of: whole))
        return nil
      }
      keys.append(key)
    }
    guard let use = use(parts, at: node), let chord = chord(keys, names, at: node) else {
      return nil
    }
    if chord.switchesConsole {
      warn("'\(text)' also switches to another console or session", at: node.mark)
    }
    return (chord, use)
  }

  /// The use that the text after a chord names.
  private mutating func use(_ parts: ChordText, at node: Node) -> Use? {
    let words = parts.rest.split(separator: " ").map { $0.lowercased() }
    switch words {
    case [], ["press"]: return .press
    case ["release"]: return .release
    case ["tap"]: return .tap
    case ["hold"]:
      fail("'hold' needs a time, as in 'hold 300ms'", at: node.mark(of: parts.rest))
      return nil
    case _ where words.count == 2 && words[0] == "hold":
      return duration(words[1], at: node).map { .hold($0) }
    default:
      let suggestion = spacedKeySuggestion(for: parts)
      fail(
        "unexpected '\(parts.rest)' after the chord"
          + (suggestion.isEmpty ? "; expected press, release, tap or hold TIME" : suggestion),
        at: node.mark(of: parts.rest))
      return nil
    }
  }

  /// The chord of `keys`, which the file calls by these names.
  private mutating func chord(_ keys: [KeyCode], _ names: [String], at node: Node) -> Chord? {
    do {
      return try Chord(keys)
    } catch {
      switch error {
      case .empty: fail("the key name is empty", at: node)
      case .endsInShift: fail("Shift cannot be bound: it belongs to the Shift machine", at: node)
      case .rightAltIsNotAModifier:
        let name = zip(names, keys).first { Modifiers(of: $1).isEmpty }?.0 ?? "AltGr"
        let subject = name.lowercased() == "altgr" ? name : "\(name) is AltGr, which"
        fail("\(subject) types characters; it cannot be a modifier", at: node)
      case .notAModifier(let place):
        fail(
          "\(names[place]) is not a modifier; all keys before the last must be modifiers", at: node)
      case .modifierTwice(let place):
        fail("\(names[place]) repeats a modifier; left and right count as the same", at: node)
      }
      return nil
    }
  }
}

extension Chord {
  /// Whether the kernel or the desktop switches to another console or session by this chord:
  /// Ctrl+Alt with a function key from F1 to F12.
  fileprivate var switchesConsole: Bool {
    modifiers == [.ctrl, .alt] && (59...68 ~= key.number || 87...88 ~= key.number)
  }
}
