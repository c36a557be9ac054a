public import SystemCalls

/// The microseconds of a time such as `500ms`, `12.5s`, `250us` or, in seconds, `12.5`.
///
/// - Throws: `UsageError` for any other text, and for a time finer than a microsecond.
public func microseconds(of text: String) throws(UsageError) -> Int64 {
  let isWithoutUnit = text.last?.isNumber ?? false
  do {
    return try Duration(written: isWithoutUnit ? "\(text)s" : text).wholeMicroseconds
  } catch {
    throw UsageError("'\(text)' is not a time such as 500ms, 2.5s or, in seconds, 2.5")
  }
}
