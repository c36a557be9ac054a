/// The arguments of this program, without its name.
public func commandLine() -> [FilePath] {
  (1..<max(1, Int(CommandLine.argc))).compactMap { number in
    CommandLine.unsafeArgv[number].map { FilePath(cString: $0) }
  }
}

/// The arguments of a program, split into options and operands by the conventions of
/// `getopt_long`: options anywhere, `--name value` or `--name=value`, and `--` before operands that
/// begin with a dash.
public struct Arguments: Sendable {
  /// The arguments that are not options, in order, as paths of files.
  public private(set) var paths: [FilePath] = []
  /// The operands after the first `--`; `nil` where there is none.
  public private(set) var afterDashes: [String]?
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []
  /// The number of the first argument that is an operand but not UTF-8, from 1.
  private var numberOfOther: Int?

  /// The arguments that are not options, in order.
  public var operands: [String] { paths.map(\.text) }

  /// Splits `arguments`.
  ///
  /// - Parameters:
  ///   - flags: the names of options without a value, with their dashes.
  ///   - options: the names of options with a value, with their dashes.
  ///   - lists: the names of options with a value that may be repeated.
  ///   - short: what short options stand for, such as `-h` for `--help`.
  /// - Throws: for an unknown option, a missing or superfluous value, one of `options` that is
  ///   given twice, or an option that is not UTF-8.
  public init(
    _ arguments: some Sequence<FilePath>, flags knownFlags: Set<String>, options: Set<String>,
    lists: Set<String> = [], short: [String: String] = [:]
  ) throws(UsageError) {
    var rest = Array(arguments)[...]
    while let path = rest.popFirst() {
      guard path.text.hasPrefix("-"), path.text != "-" else {
        add(path, number: rest.startIndex)
        continue
      }
      let argument = try Self.text(of: path, number: rest.startIndex)
      if argument == "--" {
        afterDashes = rest.map(\.text)
        while let path = rest.popFirst() { add(path, number: rest.startIndex) }
        return
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let written = String(parts[0])
      let name = short[written] ?? written
      if knownFlags.contains(name) {
        guard parts.count == 1 else { throw UsageError("option '\(name)' takes no value") }
        flags.insert(name)
      } else if options.contains(name) || lists.contains(name) {
        var value = parts.count == 2 ? String(parts[1]) : nil
        if value == nil, let next = rest.popFirst() {
          value = try Self.text(of: next, number: rest.startIndex)
        }
        guard let value, !value.isEmpty else { throw UsageError("option '\(name)' needs a value") }
        guard lists.contains(name) || values[name] == nil else {
          throw UsageError("option '\(name)' is given twice")
        }
        values[name, default: []].append(value)
      } else {
        let known = knownFlags.union(options).union(lists).sorted()
        let hint = nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        throw UsageError("unknown option '\(name)'\(hint)")
      }
    }
  }

  private mutating func add(_ operand: FilePath, number: Int) {
    paths.append(operand)
    if !operand.isText, numberOfOther == nil { numberOfOther = number }
  }

  private static func text(of argument: FilePath, number: Int) throws(UsageError) -> String {
    guard argument.isText else { throw UsageError("argument \(number) is not UTF-8") }
    return argument.text
  }

  /// Throws if an operand is not UTF-8: its text differs, and can only be shown.
  public func checkOperands() throws(UsageError) {
    if let numberOfOther { throw UsageError("argument \(numberOfOther) is not UTF-8") }
  }

  /// Whether this option was given.
  public func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// Whether this option was given, with a value or without.
  public func isGiven(_ option: String) -> Bool { has(option) || values[option] != nil }

  /// The value that was given to this option, if any.
  public subscript(_ option: String) -> String? { values[option]?.first }

  /// All values that were given to this option, in order.
  public func list(_ option: String) -> [String] { values[option] ?? [] }
}
