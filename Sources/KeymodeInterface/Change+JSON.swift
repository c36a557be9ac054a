internal import JSON
public import KeyboardModes

extension Change {
  /// Appends the change as JSON, the same as ``json`` written compactly. This builds no tree of
  /// values, which would take a dozen allocations for each change.
  public func writeJSON(to bytes: inout [UInt8]) {
    // A temporary buffer takes the parts, so that `bytes` grows only once.
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

  /// The length of the names of the states and the event together, in bytes of UTF-8.
  public var lengthOfNames: Int { from.utf8.count + to.utf8.count + event.utf8.count }
}
