import JSON
import SystemCalls

extension Output {
  /// Adds a line of JSON, which escapes whatever terminals act on.
  mutating func line(json value: some JSONWritable) { line { value.write(to: &$0) } }
}
