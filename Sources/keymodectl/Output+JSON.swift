import JSON
import SystemCalls

extension Output {
  /// Adds a line of JSON, which escapes whatever terminals act on.
  mutating func line(_ json: JSON) { line { json.write(to: &$0) } }
}
