internal import JSON
public import KeyboardModes

extension Change {
  /// Appends the change as JSON: what ``json`` is when it is written compactly, but without the tree of
  /// values in between, for which each change would take and free a dozen pieces of memory.
  public func writeJSON(to bytes: inout [UInt8]) {
    // It is put together beside `bytes`, which is then asked for room once.
    let isWritten = withTextBuffer(holding: 160 + lengthOfNames) { text in
      text.append("{\"sequence\":")
      text.append(sequence)
      text.append(",\"time\":")
      text.append(time.microseconds)
      switch machine {
      case .shift: text.append(",\"machine\":\"shift\",\"from\":\"")
      case .keyboard: text.append(",\"machine\":\"keyboard\",\"from\":\"")
      }
      guard text.append(name: from) else { return false }
      text.append("\",\"to\":\"")
      guard text.append(name: to) else { return false }
      text.append("\",\"event\":\"")
      guard text.append(name: event) else { return false }
      text.append("\"}")
      bytes.append(contentsOf: text.written)
      return true
    }
    if !isWritten { json.write(to: &bytes) }
  }

  /// How many bytes all names have.
  public var lengthOfNames: Int { from.utf8.count + to.utf8.count + event.utf8.count }
}
