import KeyboardModes
import Keyboards
import System
public import Terminal

extension Configuration {
  /// The configuration as YAML, with every setting. ``init(parsing:file:warn:)`` parses it to an
  /// equal configuration.
  public var yaml: String { lines.map { "\($0)\n" }.joined() }

  /// The lines of ``yaml`` for the merged files. If the setting of a line comes from files, not
  /// from the defaults, a comment at the end of the line names these files.
  ///
  /// - Parameter warn: receives the warnings; see ``init(merging:warn:)``.
  public static func annotatedYAML(
    merging files: [ConfigurationText], warn: (TerminalText) -> Void
  ) throws(ConfigurationErrors) -> [String] {
    let (configuration, root) = try read(files, warn: warn)
    var path: [String] = []
    return configuration.lines.map { line in
      let name = line.drop { $0 == " " }.prefix { $0 != ":" }
      path = path.prefix(line.indentation / 2) + [String(name.filter { $0 != "\"" })]
      let origins = path.reduce(root) { $0?[$1] }?.origins ?? []
      let names = origins.map { printable(files[$0].name) }
      return names.isEmpty ? line : "\(line)  # \(names.joined(separator: ", "))"
    }
  }

  private var lines: [String] {
    let locks = Lock.allCases.filter(settings.locks.contains).map(\.machine.rawValue)
    let debounce = settings.debounce == .zero ? "off" : settings.debounce.written
    let parts = [
      shiftLines, keyboardLines, machineLines, deviceLines, ["debounce: \(debounce)"], ledLines,
      list("locks:", locks),
    ]
    return Array(parts.joined())
  }

  private var shiftLines: [String] {
    [
      "shift:", "  threshold: \(settings.shift.threshold.written)",
      "  timeout: \(settings.shift.timeout?.written ?? "off")",
      "  trigger: \(settings.shiftTrigger.rawValue)",
      "  tap_timeout: \(settings.tapTimeout.written)",
      "  used_by: \(settings.shiftUsedBy.rawValue)",
    ]
  }

  private var keyboardLines: [String] {
    ["keyboard:"] + tableLines
      + section("  bindings:", bindingLines(of: 0).map { "    \($0)" })
  }

  /// The lines for the bindings of the machine with this index.
  private func bindingLines(of machineIndex: Int) -> [String] {
    let table = settings.machines[machineIndex].table
    return table.events.flatMap { event in
      let chords = settings.bindings.chords(of: event, of: machineIndex)
      return list(
        "\(scalar(table.name(ofEvent: event))):", chords.map { "\($0.shortName)\($1.suffix)" })
    }
  }

  /// The keyboard machine's table; empty if it is the shipped one.
  private var tableLines: [String] {
    let table = settings.keyboard
    guard table != .shipped else { return [] }
    return [
      "  table:", "    replaces: true", "    initial: \(scalar(table.name(of: table.initial)))",
    ] + list("    states:", table.stateNames) + list("    events:", table.sentEventNames)
      + section("    rows:", rowLines(of: table, allStates: false).map { "      \($0)" })
  }

  /// The lines for the rows of a table, grouped by state below the state's name.
  ///
  /// - Parameter allStates: whether states without a row have a line, too.
  private func rowLines(of table: CompiledTable, allStates: Bool) -> [String] {
    let rows = Dictionary(grouping: table.rows, by: \.state)
    return table.stateNames.flatMap { state -> [String] in
      let timeout = table.timeout(ofStateNamed: state).map {
        "  after \($0.after.written): \(scalar($0.next))"
      }
      let lines =
        (rows[state] ?? []).map { "  \(scalar($0.event)): \(scalar($0.next))" }
        + [timeout].compactMap(\.self)
      return lines.isEmpty && !allStates ? [] : section("\(scalar(state)):", lines)
    }
  }

  /// The lines for the user's own machines.
  private var machineLines: [String] {
    let machines = settings.machines.enumerated().dropFirst().flatMap { index, machine in
      let table = machine.table
      return [
        "  \(scalar(machine.name.rawValue)):",
        "    initial: \(scalar(table.name(of: table.initial)))",
      ]
        + section("    rows:", rowLines(of: table, allStates: true).map { "      \($0)" })
        + section("    bindings:", bindingLines(of: index).map { "      \($0)" })
    }
    return section("machines:", machines)
  }

  private var deviceLines: [String] {
    ["devices:"] + list("  only:", devices.only.map(\.text))
      + list("  ignore:", devices.ignore.map(\.text)) + [
        "  pointers: \(settings.pointers ? "yes" : "no")"
      ]
  }

  private var ledLines: [String] {
    section(
      "leds:",
      settings.ledStates.flatMap { state in
        leds[state].map { list("  \(scalar(state)):", $0.names) } ?? []
      })
  }

  /// The key with these lines below it; the key with `{}` if there are no lines.
  private func section(_ key: String, _ lines: [String]) -> [String] {
    lines.isEmpty ? ["\(key) {}"] : [key] + lines
  }

  /// A list, on the line of its key if there is room.
  private func list(_ key: String, _ texts: [String]) -> [String] {
    let texts = texts.map(scalar)
    let line = "\(key) [\(texts.joined(separator: ", "))]"
    guard line.count > 80 else { return [line] }
    let indentation = String(repeating: " ", count: key.indentation + 2)
    return [key] + texts.map { "\(indentation)- \($0)" }
  }
}

extension Node {
  /// The indices of the files that this setting is from; empty for a group of settings.
  fileprivate var origins: [Int] {
    switch content {
    case .mapping: []
    case .scalar: [mark.file]
    case .sequence(let nodes): nodes.isEmpty ? [mark.file] : Set(nodes.map(\.mark.file)).sorted()
    }
  }
}

extension ChordTrigger {
  /// The text after the chord in a binding.
  fileprivate var suffix: String {
    switch self {
    case .press: ""
    case .release: " release"
    case .hold(let duration): " hold \(duration.written)"
    case .tap: " tap"
    case .gone: " gone"
    }
  }
}

extension DeviceRules.Pattern {
  /// The text that ``init(_:)`` reads as this pattern.
  fileprivate var text: String {
    func digits(_ number: UInt16) -> String { padded(number, 4, radix: 16, "0") }
    switch self {
    case .name(let name): return name
    case .product(let vendor, let product): return "\(digits(vendor)):\(digits(product))"
    }
  }
}

extension String {
  /// How many spaces the string begins with.
  fileprivate var indentation: Int { prefix { $0 == " " }.count }
}
