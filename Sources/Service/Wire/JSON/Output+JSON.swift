public import System
public import Terminal

extension Output {
  /// Adds a line of JSON, which escapes everything that a terminal would act on.
  public mutating func line(json value: some JSONWritable) throws(SystemError) {
    try line { value.write(to: &$0) }
  }

  /// Writes a line to standard output: `json`, or `text` if `json` is `nil`.
  public static func print(_ text: TerminalText, json: (some JSONWritable)?) throws(SystemError) {
    var output = Output()
    if let json { try output.line(json: json) } else { try output.line(text) }
    try output.flush()
  }
}
