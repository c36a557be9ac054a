import KeyboardModes
import Keyboards
import System
import Terminal

/// The names of the settings in each section.
enum SettingNames {
  static let shift = ["threshold", "timeout", "trigger", "tap_timeout", "used_by"]
  static let devices = ["only", "ignore", "pointers"]
  static let keyboard = ["bindings", "table"]
  static let machine = ["initial", "rows", "bindings"]
  static let table = ["replaces", "initial", "states", "events", "rows"]
}

/// Turns a YAML document into a configuration, and collects its errors.
///
/// This takes time linear in the size of the file, whatever is in it: the watchdog kills a daemon
/// that takes long over a bad file.
struct ConfigurationReader {
  var configuration = Configuration()
  private(set) var faults: [Fault] = []
  private(set) var warnings: [Fault] = []
  /// The index of the file whose table replaces the tables of earlier files; 0 if there is none.
  var replacingFile = 0

  mutating func fail(_ message: @autoclosure @escaping () -> String, at node: Node) {
    fail(message(), at: node.mark)
  }

  mutating func fail(_ message: @autoclosure @escaping () -> String, at mark: Mark) {
    faults.append(Fault(mark: mark, message: message))
  }

  mutating func warn(_ message: @autoclosure @escaping () -> String, at mark: Mark) {
    warnings.append(Fault(mark: mark, message: message))
  }

  mutating func read(_ root: Node) {
    let sections = members(
      of: root, "the configuration",
      known: ["shift", "keyboard", "machines", "devices", "debounce", "leds", "locks"])
    if let shift = sections["shift"] { readShift(shift) }
    let isKeyboardValid = sections["keyboard"].map { readKeyboard($0) } ?? true
    let areMachinesValid = sections["machines"].map { readMachines($0) } ?? true
    if let devices = sections["devices"] { readDevices(devices) }
    if let debounce = sections["debounce"] { readDebounce(debounce) }
    // The names in `leds` are states, and the tables may add states.
    if isKeyboardValid, areMachinesValid, let leds = sections["leds"] { readLEDs(leds) }
    readLocks(sections["locks"], leds: sections["leds"])
  }

  /// Reads the locks. Leaves out a lock if its LED shows a state instead of the lock.
  private mutating func readLocks(_ list: Node?, leds: Node?) {
    var locks = Set(Lock.allCases)
    if let list {
      locks = []
      if case .mapping = list.content {
        return fail("locks must be a list, such as [caps, num]", at: list)
      }
      for node in list.elements {
        guard let name = scalar(node) else { continue }
        guard let lock = Lock.allCases.first(where: { $0.machine.rawValue == name }) else {
          fail("'\(name)' is neither caps nor num", at: node)
          continue
        }
        locks.insert(lock)
      }
    }
    let shown = locks.filter { configuration.leds.used.contains($0.led) }
    if let node = list ?? leds {
      for name in Lock.allCases.filter(shown.contains).map(\.machine.rawValue) {
        warn("the LED of '\(name)' shows a state, so this lock is unknown", at: node.mark)
      }
    }
    configuration.settings.locks = locks.subtracting(shown)
  }

  private mutating func readDevices(_ node: Node) {
    let values = members(of: node, "devices", known: SettingNames.devices)
    configuration.devices.only = values["only"].map { patterns($0) } ?? []
    configuration.devices.ignore = values["ignore"].map { patterns($0) } ?? []
    if let pointers = values["pointers"] { configuration.settings.pointers = isTrue(pointers) }
  }

  /// Reads a list of patterns: names of devices, or `vendor:product`.
  private mutating func patterns(_ list: Node) -> [DeviceRules.Pattern] {
    var patterns: [DeviceRules.Pattern] = []
    var known: Set<DeviceRules.Pattern> = []
    for node in list.elements {
      guard let text = scalar(node) else { continue }
      guard !text.isEmpty, !text.utf8.contains(0) else {
        fail(
          text.isEmpty ? "the device name is empty" : "'\(text)' contains a null character",
          at: node)
        continue
      }
      guard !text.hasPrefix("/dev/") else {
        fail(
          "'\(text)' is a path; 'keymodectl devices' shows the name and vendor:product of each device",
          at: node)
        continue
      }
      guard let pattern = DeviceRules.Pattern(text) else {
        fail(
          "'\(text)' is not vendor:product with four hexadecimal digits each, such as 046d:c52b",
          at: node)
        continue
      }
      if known.insert(pattern).inserted { patterns.append(pattern) }
    }
    return patterns
  }

  /// The maximum debounce time. Switches bounce for a shorter time, and people take longer from a
  /// release to the next press.
  private static let maxDebounce = Duration.milliseconds(100)

  private mutating func readDebounce(_ node: Node) {
    guard !isOff(node), let debounce = duration(node, upTo: Self.maxDebounce) else { return }
    configuration.settings.debounce = debounce
  }

  private mutating func readShift(_ node: Node) {
    let values = members(of: node, "shift", known: SettingNames.shift)
    let defaults = ShiftRules()
    configuration.settings.shift = ShiftRules(
      threshold: values["threshold"].flatMap { duration($0) } ?? defaults.threshold,
      timeout: values["timeout"].flatMap { isOff($0) ? nil : duration($0) })
    if let timeout = values["tap_timeout"].flatMap({ duration($0) }) {
      configuration.settings.tapTimeout = timeout
    }
    if let trigger: Settings.ShiftTrigger = values["trigger"].flatMap({ choice($0) }) {
      configuration.settings.shiftTrigger = trigger
    }
    if let keys: Settings.KeysUsingShift = values["used_by"].flatMap({ choice($0) }) {
      configuration.settings.shiftUsedBy = keys
    }
  }

  private mutating func readLEDs(_ node: Node) {
    let states = configuration.settings.ledStates
    let lists = members(of: node, "leds", known: states, each: "state", since: replacingFile)
    var leds: [String: LEDs] = [:]
    for state in states {
      guard let list = lists[state] else { continue }
      var ofState: LEDs = []
      for node in list.elements {
        guard let text = scalar(node), let led = led(text, at: node) else { continue }
        ofState.formUnion(led)
      }
      leds[state] = ofState
    }
    configuration.leds = LEDRules(leds)
  }
}

// MARK: - Values

extension ConfigurationReader {
  /// The values of a mapping by name; unknown and repeated names are errors.
  ///
  /// - Parameters:
  ///   - what: the name of the mapping in messages.
  ///   - kind: the word for a name of the mapping in messages: setting, state or event.
  ///   - first: the index of the first file in which unknown names are errors. Earlier files may
  ///     have unknown names: a later table has replaced the tables that defined them.
  mutating func members(
    of node: Node, _ what: String, known: [String], each kind: String = "setting",
    since first: Int = 0
  ) -> [String: Node] {
    guard case .mapping(let pairs) = node.content else {
      // A name without a value, such as `shift:`, is not an error.
      if !node.isEmpty {
        let keys = known.isEmpty ? "" : "; its possible \(kind)s are \(listed(known))"
        fail("\(what) must be a mapping\(keys)\(colonHint(node.text ?? ""))", at: node)
      }
      return [:]
    }
    let isKnown = Set(known)
    var values: [String: Node] = [:]
    for (key, value) in pairs.map({ ($0.key, $0.value) }) {
      guard let name = scalar(key) else { continue }
      if !isKnown.contains(name) {
        guard key.mark.file >= first else { continue }
        let isMachine = kind == "setting" && value["rows"] != nil && MachineName.isOwnName(name)
        fail(
          isMachine && known.contains("machines")
            ? "'\(name)' belongs below 'machines:'" : unknownName(name, kind, among: known), at: key
        )
      } else if values.updateValue(value, forKey: name) != nil {
        fail("duplicate \(kind) '\(name)'", at: key)
      }
    }
    return values
  }

  mutating func scalar(_ node: Node) -> String? {
    switch node.content {
    case .scalar(let text): return text
    case .sequence: fail("expected one value, found a list", at: node)
    case .mapping: fail("expected one value, found a mapping", at: node)
    }
    return nil
  }

  /// The case that a value names.
  private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ node: Node
  ) -> Choice? {
    guard let name = scalar(node) else { return nil }
    if let value = Choice(rawValue: name) { return value }
    fail("'\(name)' is none of \(listed(Choice.allCases.map(\.rawValue)))", at: node)
    return nil
  }

  /// Whether a value is `yes` or `true`. Any value but `yes`, `true`, `no` and `false` is an error.
  mutating func isTrue(_ node: Node) -> Bool {
    guard let text = scalar(node) else { return false }
    if !["yes", "no", "true", "false"].contains(text) {
      fail("'\(text)' is not yes, no, true or false", at: node)
    }
    return node.isYes
  }

  /// Whether a time is turned off: `off`, `0`, or no value.
  private func isOff(_ node: Node) -> Bool {
    ["off", "0", ""].contains { node.content == .scalar($0) }
  }

  /// A time from 1 µs to `longest`, such as `500ms`, `0.5s` or `250us`; `nil` after an error.
  private mutating func duration(
    _ node: Node, upTo longest: Duration = .seconds(60)
  ) -> Duration? {
    scalar(node).flatMap { duration($0, at: node, upTo: longest) }
  }

  mutating func duration(
    _ text: String, at node: Node, from least: Duration = .microseconds(1),
    upTo longest: Duration = .seconds(60)
  ) -> Duration? {
    do {
      return try Duration(written: text, within: least...longest)
    } catch {
      switch error {
      case .malformed: fail("'\(text)' is not a time such as 500ms, 0.5s or 250us", at: node)
      case .noUnit: fail("'\(text)' has no unit; add s, ms or us", at: node)
      case .tooFine: fail("'\(text)' is finer than a microsecond", at: node)
      case .outOfRange:
        fail("'\(text)' is not between \(least.written) and \(longest.written)", at: node)
      }
      return nil
    }
  }

  private mutating func led(_ name: String, at node: Node) -> LEDs? {
    if let led = LEDs(name: name) { return led }
    fail("unknown LED '\(name)'; \(suggestion(for: name, among: LEDs.allNames))", at: node)
    return nil
  }
}

extension Settings {
  /// The names of the states that LEDs can show: see ``LEDRules``.
  var ledStates: [String] {
    shift.stateNames
      + machines.flatMap { machine in
        machine.table.stateNames.map { LEDRules.name(of: $0, of: machine.name) }
      }
  }
}
