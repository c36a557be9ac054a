internal import JSON
public import KeyboardModes

extension Change {
  /// Appends the change as JSON: what ``json`` is when it is written compactly, but without the tree of
  /// values in between, for which each change would take and free a dozen pieces of memory.
  public func writeJSON(to bytes: inout [UInt8]) {
    guard from.isPlain, to.isPlain, event.isPlain else { return json.write(to: &bytes) }
    // All is put together beside `bytes`, which is then asked for room once.
    let names = from.utf8.count + to.utf8.count + event.utf8.count
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 160 + names) { room in
      var text = TextBuffer(room)
      text.append("{\"sequence\":")
      text.append(sequence)
      text.append(",\"time\":")
      text.append(time.microseconds)
      switch machine {
      case .shift: text.append(",\"machine\":\"shift\",\"from\":\"")
      case .keyboard: text.append(",\"machine\":\"keyboard\",\"from\":\"")
      }
      text.append(from)
      text.append("\",\"to\":\"")
      text.append(to)
      text.append("\",\"event\":\"")
      text.append(event)
      text.append("\"}")
      bytes.append(contentsOf: text.written)
    }
  }
}

extension String {
  /// Whether it stands in JSON, and in a table, as it is.
  fileprivate var isPlain: Bool {
    utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }
}
