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
  /// Reads the table and the bindings; returns whether the table has no errors. If it has errors,
  /// the bindings are not read, because the valid names of events are unknown.
  mutating func readKeyboard(_ node: Node) -> Bool {
    let values = members(of: node, "keyboard", known: SettingNames.keyboard)
    guard values["table"].map({ readTable($0) }) ?? true else { return false }
    if let replaces = values["table"]?["replaces"], replaces.isYes {
      replacingFile = replaces.mark.file
    }
    let table = configuration.settings.keyboard
    for event in CompiledTable.shipped.events where !table.events.contains(event) {
      configuration.settings.bindings.unbind(event)
    }
    if let bindings = values["bindings"] {
      readBindings(bindings, of: 0, each: "event", since: replacingFile)
    }
    return true
  }

  /// Reads the bindings of the machine with this index. Its table must be in the settings already.
  ///
  /// - Parameters:
  ///   - kind: the word for an event of the machine in messages, such as `event of talk`.
  ///   - first: the index of the first file in which unknown names are errors.
  mutating func readBindings(
    _ bindings: Node, of machineIndex: Int, each kind: String, since first: Int = 0
  ) {
    let table = configuration.settings.machines[machineIndex].table
    let lists = members(
      of: bindings, "bindings", known: table.sentEventNames, each: kind, since: first)
    // An event without a value keeps its default chords; an empty list removes them.
    let named = table.events.filter {
      lists[table.name(ofEvent: $0)].map { !$0.isEmpty } ?? false
    }
    for event in named { configuration.settings.bindings.unbind(event, of: machineIndex) }
    let wanted = named.flatMap { event in
      (lists[table.name(ofEvent: event)]?.elements ?? []).map { (event, $0) }
    }
    var bound: [Binding] = []
    // Of two bindings of a chord, the later one is the error.
    for (event, node) in wanted.sorted(by: { $0.1.mark < $1.1.mark }) {
      guard let (chord, trigger) = bind(node, to: event, of: machineIndex, named) else { continue }
      bound.append((chord, trigger, event, node.mark))
    }
    // A warning depends on all bindings, so warnings come after the last binding.
    for binding in bound where binding.trigger == .release {
      warnOfRelease(by: binding, of: machineIndex)
    }
  }

  /// A binding in the files, and its position.
  private typealias Binding = (
    chord: Chord, trigger: ChordTrigger, event: CompiledTable.Event, mark: Mark
  )

  /// Binds the chord of `node`, and returns it with its trigger; `nil` after an error.
  ///
  /// - Parameter named: the events that the files bind. All other events have their default chords.
  private mutating func bind(
    _ node: Node, to event: CompiledTable.Event, of machineIndex: Int,
    _ named: [CompiledTable.Event]
  ) -> (Chord, ChordTrigger)? {
    if case .mapping = node.content {
      fail("write the key and when it acts as one text, such as 'F9 release'", at: node)
      return nil
    }
    guard let text = scalar(node), let (chord, trigger) = binding(text, at: node) else {
      return nil
    }
    guard
      let other = configuration.settings.bindings.bind(chord, trigger, to: event, of: machineIndex)
    else { return (chord, trigger) }
    let name = configuration.settings.machines[machineIndex].table.name(ofEvent: other)
    fail(
      named.contains(other)
        ? "'\(text)' is already bound to \(name)"
        : "by default '\(text)' is bound to \(name); "
          + "to free it, list other keys for \(name), or none: '\(name): []'",
      at: node)
    return nil
  }

  /// Warns if only the release of a chord is bound: the user may have misspelt the chord.
  /// Warns too if the press and the release send the same event. Such an event enters a state and
  /// leaves it; if another key leaves the state before the release, the release enters it again.
  private mutating func warnOfRelease(by binding: Binding, of machineIndex: Int) {
    guard let events = configuration.settings.bindings[binding.chord, machineIndex] else { return }
    if events.withTriggers.allSatisfy({ $0.trigger == .release }) {
      warn("nothing is bound to the press of \(binding.chord.shortName)", at: binding.mark)
    }
    guard events.press == binding.event else { return }
    let name = configuration.settings.machines[machineIndex].table.name(ofEvent: binding.event)
    warn(
      "the press sends \(name), too: if another key changes the state meanwhile, the release may "
        + "begin what it should end; use two events", at: binding.mark)
  }

  /// The chord and the trigger that a binding names; `nil` after an error.
  private mutating func binding(_ text: String, at node: Node) -> (Chord, ChordTrigger)? {
    let parts = ChordText(text)
    let isAny = parts.names.count > 1 && parts.names[0].lowercased() == "any"
    let names = Array(parts.names.dropFirst(isAny ? 1 : 0))
    var keys: [KeyCode] = []
    for (index, name) in names.enumerated() {
      guard let key = KeyCode(writtenAs: name) else {
        let isModifier = index < names.count - 1
        fail(
          name.isEmpty ? "a key is missing" : unknownKey(name, isModifier: isModifier), at: node)
        return nil
      }
      keys.append(key)
    }
    guard let trigger = trigger(parts.rest, at: node) else { return nil }
    return chord(keys, names, allowsAnyModifiers: isAny, at: node).map { ($0, trigger) }
  }

  /// The trigger that the text after a chord names; `nil` after an error.
  private mutating func trigger(_ text: String, at node: Node) -> ChordTrigger? {
    let words = text.split(separator: " ").map { $0.lowercased() }
    switch words {
    case [], ["press"]: return .press
    case ["release"]: return .release
    case ["tap"]: return .tap
    case ["gone"]: return .gone
    case _ where words.count == 2 && words[0] == "hold":
      return duration(words[1], at: node).map { .hold($0) }
    default:
      fail(
        "unexpected '\(text)' after the chord; join keys by '+', or write press, release, tap, gone or "
          + "hold TIME", at: node)
      return nil
    }
  }

  /// The chord of `keys`; `nil` after an error. The file calls the keys by these `names`.
  private mutating func chord(
    _ keys: [KeyCode], _ names: [String], allowsAnyModifiers: Bool, at node: Node
  ) -> Chord? {
    do {
      return try Chord(keys, allowsAnyModifiers: allowsAnyModifiers)
    } catch {
      switch error {
      case .empty: fail("a key is missing", at: node)
      case .endsInShift: fail("Shift cannot be bound: it belongs to the Shift machine", at: node)
      case .rightAltIsNotAModifier:
        fail("AltGr, the right Alt, types characters; it cannot be a modifier", at: node)
      case .modifierWithAny:
        fail("'Any' means that any modifiers may be held; name no others", at: node)
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
