import KeyboardModes

/// A table with an event for each use, each of which always changes the state, so that every event can
/// be seen.
let usesTable: CompiledTable = {
  let names = ["press", "tap", "hold", "release", "other"]
  let states = names.flatMap { ["\($0)1", "\($0)2"] }
  return table(
    states: states, initial: "other1", events: names,
    rows: states.flatMap { state in
      names.map { CompiledTable.Row(state, $0, state == "\($0)1" ? "\($0)2" : "\($0)1") }
    })
}()

/// The shipped table with events for push-to-talk.
private let talkingTable: CompiledTable = {
  let shipped = CompiledTable.shipped
  let starts = shipped.stateNames.filter { $0 != "prepareToRecord" }
    .map { CompiledTable.Row($0, "startTalking", "prepareToRecord") }
  return table(
    states: shipped.stateNames, initial: "prepareToEditText",
    events: shipped.eventNames + ["startTalking", "stopTalking"],
    rows: shipped.rows + starts + [.init("prepareToRecord", "stopTalking", "editingText")])
}()

private func table(
  states: [String], initial: String, events: [String], rows: [CompiledTable.Row]
) -> CompiledTable {
  do {
    return CompiledTable(
      try .init(states: states, initial: initial, events: events, rows: rows))
  } catch { fatalError("\(error)") }
}

extension Settings {
  /// The default settings, except for what the clauses say, which are separated by commas: `trigger tap`,
  /// `used_by any`, `threshold 400`, `timeout 3000`, `tap_timeout 50`, `debounce 5`, `pointers no`,
  /// `table talking`, `locks caps`.
  /// Times are as in a ``Timeline``.
  ///
  /// Any other clause binds a chord: `LEFTMETA+V clickSwitchButton`, `F9 hold 300 clickMoreButton`.
  /// Without an event the chord has the event of ``usesTable`` that is called as the use, and this
  /// table and no other binding is in force: `F9 hold 300`.
  init(text: String) throws {
    self.init()
    for clause in text.split(separator: ",") {
      var words = clause.split(separator: " ")[...]
      let first = words.removeFirst()
      func time() throws -> Duration {
        guard let word = words.popFirst(), let number = Timeline.microseconds(word) else {
          throw UnknownWord(word: String(clause))
        }
        return .microseconds(number)
      }
      switch first {
      case "trigger": shiftTrigger = words.first == "tap" ? .tap : .always
      case "used_by": shiftUsedBy = .any
      case "threshold": shift = ShiftRules(threshold: try time(), timeout: shift.timeout)
      case "timeout": shift = ShiftRules(threshold: shift.threshold, timeout: try time())
      case "tap_timeout": tapTimeout = try time()
      case "debounce": debounce = try time()
      case "pointers": pointers = false
      case "locks":
        locks = Set(Lock.allCases.filter { words.contains($0.machine.rawValue[...]) })
      case "table": keyboard = words.first == "uses" ? usesTable : talkingTable
      default:
        let chord = try Chord(first.split(separator: "+").map { try key(String($0)) })
        var use = ChordTrigger.press
        var name = "press"
        switch words.first {
        case "press", "release", "tap", "hold": name = String(words.removeFirst())
        default: break
        }
        switch name {
        case "release": use = .release
        case "tap": use = .tap
        case "hold": use = .hold(try time())
        default: break
        }
        if let event = words.first {
          name = String(event)
        } else if keyboard != usesTable {
          (keyboard, bindings) = (usesTable, Bindings())
        }
        guard let event = keyboard.event(named: name), bindings.bind(chord, use, to: event) == nil
        else { throw UnknownWord(word: String(clause)) }
      }
    }
  }
}
