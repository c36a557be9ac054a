/// A line that shows by itself to which part of a libinput recording it belongs.
struct LibinputLine {
  private enum Kind {
    case root, device, events, entry, event
  }

  private let kind: Kind

  /// The number of spaces and tabs before it.
  let column: Int
  let isIndentedByTabs: Bool

  var isEvent: Bool { kind == .event }

  /// - Parameter isRecognized: whether the text is known to be a recording of libinput. Only then
  ///   `- [` begins an event.
  init?(_ line: ArraySlice<UInt8>, isRecognized: Bool) {
    let space = line.prefix { $0 == .space || $0 == .tab }
    let text = line[space.endIndex...]
    func begins(_ words: String...) -> Bool { words.contains { text.starts(with: $0.utf8) } }
    if begins("- evdev:", "- keymoded:", "- hid:", "- libinput:") {
      kind = .entry
    } else if begins("- node:", "- events:") {
      kind = .device
    } else if begins("events:") {
      kind = .events
    } else if isRecognized, begins("- [") {
      kind = .event
    } else if space.isEmpty,
      begins("version:", "ndevices:", "libinput:", "system:", "devices:")
    {
      kind = .root
    } else {
      return nil
    }
    column = space.count
    isIndentedByTabs = space.contains(.tab)
  }

  /// Whether a line is empty or a comment.
  static func isEmpty(_ line: ArraySlice<UInt8>) -> Bool {
    let first = line.first { $0 > .space }
    return first == nil || first == UInt8(ascii: "#")
  }

  /// The text that makes a document of this line and all lines behind it; `nil` if the line is not
  /// indented enough for that.
  ///
  /// - Parameters:
  ///   - deviceColumn: the number of spaces before the items of the list of devices, if known.
  ///   - entryColumn: the same of the items of a list of events.
  func prefix(deviceColumn: Int?, entryColumn: Int?) -> String? {
    switch kind {
    case .root: return ""
    case .device: return "devices:\n"
    case .events: return column < 2 ? "" : "devices:\n\(spaces(column - 2))- node:\n"
    case .entry: return events(column, deviceColumn)
    case .event:
      guard column >= 2 else { return nil }
      let entry = min(entryColumn ?? column - 2, column - 2)
      return "\(events(entry, deviceColumn))\(spaces(entry))- evdev:\n"
    }
  }

  /// The text that makes a document of this line alone, without its indentation.
  var prefixOfOne: String {
    switch kind {
    case .root: ""
    case .device: "devices:\n"
    case .events: "devices:\n- "
    case .entry: "devices:\n- events:\n  "
    case .event: "devices:\n- events:\n  - evdev:\n    "
    }
  }

  /// The text before the items of a list of events that are indented by `column` spaces.
  private func events(_ column: Int, _ deviceColumn: Int?) -> String {
    guard column >= 2 else { return "\(spaces(column))events:\n" }
    return "devices:\n\(spaces(min(deviceColumn ?? column - 2, column - 2)))- events:\n"
  }

  private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
