internal import Evdev
internal import KeyboardModes
internal import LinuxInput
internal import YAML

/// Turns a YAML document into a configuration, and collects all that is wrong on the way.
struct ConfigurationReader {
  let file: String
  private(set) var configuration = Configuration()
  private(set) var errors: [ConfigurationError] = []

  init(file: String) { self.file = file }

  private mutating func fail(_ message: String, at node: Node) {
    errors.append(ConfigurationError(file: file, mark: node.mark, message: message))
  }

  mutating func read(_ root: Node) {
    let sections = members(of: root, "the configuration", known: ["shift", "keyboard", "devices"])
    if let shift = sections["shift"] { readShift(shift) }
    if let keyboard = sections["keyboard"] { readKeyboard(keyboard) }
    if let devices = sections["devices"] { readDevices(devices) }
  }

  private mutating func readDevices(_ node: Node) {
    let lists = members(of: node, "devices", known: ["only", "ignore"])
    configuration.devices.only = lists["only"].map { patterns($0) } ?? []
    configuration.devices.ignore = lists["ignore"].map { patterns($0) } ?? []
  }

  /// Names of devices, or `vendor:product`.
  private mutating func patterns(_ list: Node) -> [DeviceRules.Pattern] {
    var patterns: [DeviceRules.Pattern] = []
    for node in elements(of: list) {
      guard let text = scalar(node) else { continue }
      let pattern = DeviceRules.Pattern(text)
      if text.isEmpty {
        fail("no device is named", at: node)
      } else if patterns.contains(pattern) {
        fail("this stands here already", at: node)
      } else {
        patterns.append(pattern)
      }
    }
    return patterns
  }

  private mutating func readShift(_ node: Node) {
    let values = members(of: node, "shift", known: ["threshold", "trigger", "tap_timeout"])
    if let threshold = values["threshold"].flatMap({ duration($0) }) {
      configuration.settings.shift = ShiftRules(threshold: threshold)
    }
    let timeout = values["tap_timeout"].map { duration($0) } ?? .milliseconds(200)
    if let trigger = values["trigger"], let name = scalar(trigger) {
      switch name {
      case "press": configuration.settings.shiftTrigger = .press
      case "tap":
        if let timeout { configuration.settings.shiftTrigger = .tap(timeout: timeout) }
      default: fail("'\(name)' is neither press nor tap", at: trigger)
      }
    }
  }

  private mutating func readKeyboard(_ node: Node) {
    let values = members(of: node, "keyboard", known: ["bindings"])
    guard let bindings = values["bindings"] else { return }
    let events = KeyboardRules.Event.allCases
    let lists = members(of: bindings, "bindings", known: events.map(\.name))
    let named = events.filter { lists[$0.name] != nil }
    for event in named { configuration.settings.bindings.unbind(event) }
    for event in named {
      guard let list = lists[event.name] else { continue }
      for node in elements(of: list) { bind(node, to: event, named: named) }
    }
  }

  private mutating func bind(
    _ node: Node, to event: KeyboardRules.Event, named: [KeyboardRules.Event]
  ) {
    guard let chord = chord(node) else { return }
    guard let other = configuration.settings.bindings.bind(chord, to: event) else { return }
    guard other != event else { return fail("this stands here already", at: node) }
    let hint = named.contains(other) ? "" : " by default; list other keys for that"
    fail("this is bound to \(other.name) already\(hint)", at: node)
  }
}

// MARK: - Values

extension ConfigurationReader {
  /// The values of a mapping by name; unknown and repeated names are errors.
  private mutating func members(
    of node: Node, _ what: String, known: [String]
  ) -> [String: Node] {
    guard case .mapping(let pairs) = node.content else {
      // `shift:` with nothing behind it says nothing, and is no mistake.
      if node.content != .scalar("") { fail("\(what) is not a mapping", at: node) }
      return [:]
    }
    var values: [String: Node] = [:]
    for (key, value) in pairs {
      guard let name = scalar(key) else { continue }
      if !known.contains(name) {
        let nearest = nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        fail("unknown key '\(name)'\(nearest)", at: key)
      } else if values.updateValue(value, forKey: name) != nil {
        fail("key '\(name)' stands here twice", at: key)
      }
    }
    return values
  }

  /// The values of a list; a single value is a list of one.
  private func elements(of node: Node) -> [Node] {
    switch node.content {
    case .sequence(let nodes): nodes
    case .scalar(""): []
    case .scalar, .mapping: [node]
    }
  }

  private mutating func scalar(_ node: Node) -> String? {
    guard case .scalar(let text) = node.content else {
      fail("a list or mapping stands where one value belongs", at: node)
      return nil
    }
    return text
  }

  /// A time from 1 µs to a minute, such as `500ms`, `0.5s` or `250us`.
  private mutating func duration(_ node: Node) -> Duration? {
    guard let text = scalar(node) else { return nil }
    guard let duration = Duration(configured: text) else {
      fail("'\(text)' is not a time such as 500ms, 0.5s or 250us", at: node)
      return nil
    }
    guard .microseconds(1) <= duration, duration <= .seconds(60) else {
      fail("'\(text)' is not between 1us and 60s", at: node)
      return nil
    }
    return duration
  }

  private mutating func chord(_ node: Node) -> Chord? {
    guard let text = scalar(node) else { return nil }
    let names = text.split(separator: "+", omittingEmptySubsequences: false)
      .map { $0.split(separator: " ").joined(separator: " ") }
    var keys: [KeyCode] = []
    for name in names {
      guard !name.isEmpty else {
        fail("a key is missing beside a '+'", at: node)
        return nil
      }
      guard let key = KeyCode(name: name) else {
        let known = KeyCode.allNames
        let isNumber = name.allSatisfy(\.isNumber)
        let nearest =
          isNumber
          ? nil : nearest(to: name, among: known) ?? nearest(to: "KEY_\(name)", among: known)
        let hint = nearest.map { "; did you mean \($0)?" } ?? ""
        fail("unknown key name '\(name)'\(hint)", at: node)
        return nil
      }
      keys.append(key)
    }
    do {
      return try Chord(keys)
    } catch {
      switch error {
      case .empty: fail("no key is named", at: node)
      case .endsInShift: fail("Shift cannot be bound: it belongs to the Shift machine", at: node)
      case .rightAltIsNotAModifier:
        fail("KEY_RIGHTALT is AltGr, which types characters, and not a modifier", at: node)
      case .notAModifier(let place):
        fail("\(names[place]) stands before the last key but is not a modifier", at: node)
      case .modifierTwice(let place):
        fail("\(names[place]) is a modifier that stands here already", at: node)
      }
      return nil
    }
  }
}
