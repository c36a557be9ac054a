/// The arguments of this program, without its name.
///
/// - Throws: if an argument is not UTF-8. Swift would replace bytes, and so change a file's path.
public func commandLine() throws(UsageError) -> [String] {
  try CommandLine.arguments.indices.dropFirst().map { number throws(UsageError) in
    guard let text = CommandLine.unsafeArgv[number].flatMap({ String(validatingCString: $0) })
    else {
      throw UsageError("argument \(number) is not UTF-8")
    }
    return text
  }
}

/// The arguments of a program, split into options and operands by the conventions of
/// `getopt_long`: options anywhere, `--name value` or `--name=value`, and `--` before operands that
/// begin with a dash.
public struct Arguments: Sendable {
  /// The arguments that are not options, in order.
  public private(set) var operands: [String] = []
  /// The operands after the first `--`; `nil` if there is no `--`.
  public private(set) var operandsAfterDashes: [String]?
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// Splits `arguments`.
  ///
  /// - Parameters:
  ///   - flags: the names of options without a value, with their dashes.
  ///   - options: the names of options with a value, with their dashes.
  ///   - repeatable: the names of options with a value that may be given several times.
  ///   - short: what short options stand for, such as `-h` for `--help`.
  /// - Throws: for an unknown option, a missing or superfluous value, or one of `options` that is
  ///   given twice.
  public init(
    _ arguments: some Sequence<String>, flags knownFlags: Set<String>, options: Set<String>,
    repeatable: Set<String> = [], short: [String: String] = [:]
  ) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument != "-" else {
        operands.append(argument)
        continue
      }
      if argument == "--" {
        operandsAfterDashes = Array(rest)
        operands += rest
        return
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let written = String(parts[0])
      let name = short[written] ?? written
      if knownFlags.contains(name) {
        guard parts.count == 1 else { throw UsageError("option '\(name)' takes no value") }
        flags.insert(name)
      } else if options.contains(name) || repeatable.contains(name) {
        let value = parts.count == 2 ? String(parts[1]) : rest.popFirst()
        guard let value, !value.isEmpty else { throw UsageError("option '\(name)' needs a value") }
        guard repeatable.contains(name) || values[name] == nil else {
          throw UsageError("option '\(name)' is given twice")
        }
        values[name, default: []].append(value)
      } else {
        let known = knownFlags.union(options).union(repeatable).sorted()
        let hint = nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        throw UsageError("unknown option '\(name)'\(hint)")
      }
    }
  }

  /// Whether this option, which takes no value, was given.
  public func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// Whether this option was given, with a value or without.
  public func isGiven(_ option: String) -> Bool { has(option) || values[option] != nil }

  /// The value that was given to this option, if any.
  public subscript(_ option: String) -> String? { values[option]?.first }

  /// All values that were given to this option, in order.
  public func values(of option: String) -> [String] { values[option] ?? [] }
}
