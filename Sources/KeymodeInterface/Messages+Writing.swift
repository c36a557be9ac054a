internal import JSON
public import KeyboardModes

// Every subscriber receives these for every change. They are written directly as bytes: a tree of
// JSON values would cost more than everything else that a change costs.

extension StateMessage {
  /// Appends the state as JSON, the same as ``json`` written compactly.
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

/// Writes the parameters of `Monitor`'s reply in parts, the same as ``MonitorMessage/json`` written
/// compactly.
extension MonitorMessage {
  /// Appends everything before the changes.
  public static func writeStart(_ state: StateMessage, to bytes: inout [UInt8]) {
    bytes.append(text: "{\"state\":")
    state.writeJSON(to: &bytes)
    bytes.append(text: ",\"changes\":[")
  }

  /// Appends changes; `areFirst`: whether they are the first of the message.
  public static func write(
    _ changes: some Sequence<Change>, areFirst: Bool, to bytes: inout [UInt8]
  ) {
    var isFirst = areFirst
    for change in changes {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      change.writeJSON(to: &bytes)
    }
  }

  /// Appends everything after the changes.
  public static func writeEnd(missed: Int64?, to bytes: inout [UInt8]) {
    bytes.append(text: "],\"missed\":")
    withTextBuffer(holding: 24) { text in
      if let missed { text.append(missed) } else { text.append("null") }
      bytes.append(contentsOf: text.written)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}

extension [UInt8] {
  fileprivate mutating func append(text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension TextBuffer {
  fileprivate mutating func append(_ time: Time?) {
    if let time { append(time.microseconds) } else { append("null") }
  }
}
