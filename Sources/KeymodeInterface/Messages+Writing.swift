internal import JSON
internal import KeyboardModes

// What every subscriber is sent for every change, written as bytes: the tree of values in between would
// cost more than all else that a change costs.

extension StateMessage {
  /// Appends the state as JSON: what ``json`` is when it is written compactly.
  public func writeJSON(to bytes: inout [UInt8]) {
    let room =
      240 + instance.utf8.count + modes.shift.utf8.count + modes.keyboard.utf8.count
    let isWritten = withTextBuffer(holding: room) { text in
      text.append("{\"instance\":\"")
      guard text.append(name: instance) else { return false }
      text.append("\",\"sequence\":")
      text.append(modes.sequence)
      text.append(",\"time\":")
      text.append(time.microseconds)
      text.append(",\"shift\":\"")
      guard text.append(name: modes.shift) else { return false }
      text.append("\",\"shiftSince\":")
      text.append(modes.shiftSince)
      text.append(",\"keyboard\":\"")
      guard text.append(name: modes.keyboard) else { return false }
      text.append("\",\"keyboardSince\":")
      text.append(modes.keyboardSince)
      text.append("}")
      bytes.append(contentsOf: text.written)
      return true
    }
    if !isWritten { json.write(to: &bytes) }
  }
}

extension MonitorMessage {
  /// Appends the reply's parameters as JSON: what ``json`` is when it is written compactly.
  public func writeJSON(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "{\"state\":".utf8)
    state.writeJSON(to: &bytes)
    bytes.append(contentsOf: ",\"changes\":[".utf8)
    for (place, change) in changes.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      change.writeJSON(to: &bytes)
    }
    bytes.append(contentsOf: "],\"missed\":".utf8)
    (missed.map(JSON.integer) ?? .null).write(to: &bytes)
    bytes.append(UInt8(ascii: "}"))
  }
}

extension TextBuffer {
  fileprivate mutating func append(_ time: Time?) {
    if let time { append(time.microseconds) } else { append("null") }
  }
}
