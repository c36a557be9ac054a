import CLibyaml
import Glibc

/// Lines can be left out of a text if libyaml would be in the same state behind them: at an item of
/// a list, before another item of the same list that begins in the same way.
extension EventStream {
  /// Whether libyaml stands behind the dash of an item of a list, and the item before was a mapping
  /// that it has returned but for its end.
  ///
  /// - Parameters:
  ///   - column: the number of spaces before the dash.
  ///   - rest: what libyaml has got of the text behind the dash: the rest of its line.
  public func isBehindDash(inColumn column: Int, before rest: StaticString) -> Bool {
    let (tokens, raw) = (parser.pointee.tokens, parser.pointee.raw_buffer)
    guard parser.pointee.error == YAML_NO_ERROR, parser.pointee.eof == 0,
      parser.pointee.flow_level == 0, Int(parser.pointee.indent) == column,
      parser.pointee.mark.column == column + 1,
      parser.pointee.unread == rest.utf8CodeUnitCount, raw.pointer == raw.last,
      let head = tokens.head, let tail = tokens.tail, tail - head == 2
    else { return false }
    // The mapping of the item before ends, and another item begins.
    return head[0].type == YAML_BLOCK_END_TOKEN && head[1].type == YAML_BLOCK_ENTRY_TOKEN
      && memcmp(parser.pointee.buffer.pointer, rest.utf8Start, rest.utf8CodeUnitCount) == 0
  }

  /// The number of the line that libyaml has reached.
  public var line: Int { Int(parser.pointee.mark.line) + firstLine }

  /// Counts lines that are left out of the text.
  public func skip(lines: Int) { parser.pointee.mark.line += lines }
}
