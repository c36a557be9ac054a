import Evdev
import KeyboardModes

extension GeteventParser {
  static var hasRegularLines: Bool { true }

  /// The fast path: parses lines that look exactly as `getevent -t` writes them, with or without
  /// `-l`. It ends before key events of another device, and at a device that has no number yet.
  ///
  ///     [    1234.567890] /dev/input/event2: 0001 002a 00000001
  ///     [    1234.567890] /dev/input/event2: EV_KEY       KEY_LEFTSHIFT        DOWN
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    var length = RegularText.Length()
    var line = text.start
    var second = SecondText(.init(mark: "[", separator: UInt8(ascii: "."), isPadded: true))
    var path = KnownText()
    var device = 0
    while length.events < events.count, line < text.end {
      guard second.matches(line), let microseconds = (line + second.count).sixDigits() else {
        break
      }
      var fields = line + (second.count &+ 6)
      guard fields.begins(with: "] ") else { break }
      fields += 2
      if !path.begins(fields) {
        guard let known = known(at: fields) else { break }
        (path, device) = known
      }
      fields += path.count
      guard let event = fields.character == UInt8(ascii: "E") ? labels(fields) : numbers(fields),
        let end = (fields + event.width).lineEndBehindSpaces(before: text.end),
        end - line < InputReader.longestLine
      else { break }
      if let (key, action) = event.key {
        guard length.events == 0 || device == length.device else { break }
        length.device = device
        let event = KeyEvent(time: second.time(microseconds), key: key, action: action)
        events.initializeElement(at: length.events, to: event)
        length.events &+= 1
      }
      length.parts &+= 1
      line = end + 1
    }
    length.bytes = line - text.start
    if length.parts > 0 { isRecognized = true }
    return length
  }

  /// The device whose path is next, with a colon and a space, and its number; an empty path if none
  /// is next, and `nil` if the device has no number.
  private func known(at text: UnsafeRawPointer) -> (KnownText, Int)? {
    guard text.character == UInt8(ascii: "/") else { return (KnownText(), 0) }
    for (path, number) in devices where path.count + 2 <= KnownText.longest {
      let start = UnsafeRawBufferPointer(start: text, count: path.count)
      guard path.elementsEqual(start), (text + path.count).begins(with: ": ") else { continue }
      return (KnownText(text, count: path.count + 2), number)
    }
    return nil
  }

  /// Parses `0001 002a 00000001`. Returns the width too, and no key for an event of another type.
  @inline(__always)
  private func numbers(
    _ fields: UnsafeRawPointer
  ) -> (key: (KeyCode, KeyEvent.Action)?, width: Int)? {
    if fields.begins(with: "0001 ") {
      guard let number = (fields + 5).fourHexadecimalDigits(), let key = KeyCode(number),
        (fields + 9).begins(with: " 0000000"),
        let action = KeyEvent.Action(digit: (fields + 17).character)
      else { return nil }
      return ((key, action), 18)
    }
    if fields.begins(with: "0000 0000 0000000") {
      return (fields + 17).isDigit(upTo: 1) ? (nil, 18) : nil
    }
    guard let type = fields.fourHexadecimalDigits(), type > 1, (fields + 4).character == .space,
      (fields + 5).fourHexadecimalDigits() != nil, (fields + 9).character == .space,
      (fields + 10).areEightHexadecimalDigits()
    else { return nil }
    return (nil, 18)
  }

  /// Parses `EV_KEY       KEY_LEFTSHIFT        DOWN`, in the same way.
  @inline(__always)
  private mutating func labels(
    _ fields: UnsafeRawPointer
  ) -> (key: (KeyCode, KeyEvent.Action)?, width: Int)? {
    let value = fields + 34
    if fields.begins(with: "EV_KEY       ") {
      guard let key = keyLabels[fields + 13] else { return nil }
      if value.begins(with: "DOWN ") { return ((key, .press), 38) }
      if value.begins(with: "UP ") { return ((key, .release), 36) }
      return value.begins(with: "REPEAT ") ? ((key, .autorepeat), 40) : nil
    }
    if fields.begins(with: "EV_SYN       SYN_REPORT           0000000") {
      return (fields + 41).isDigit(upTo: 1) ? (nil, 42) : nil
    }
    guard !fields.begins(with: "EV_KEY"), !fields.begins(with: "EV_SYN"),
      fields.begins(with: "EV_"), fields.lineEnd(before: value) == nil,
      (fields + 12).character == .space, (fields + 13).character > .space,
      (fields + 33).character == .space, value.areEightHexadecimalDigits()
    else { return nil }
    return (nil, 42)
  }
}

/// The keys of the labels that have been looked up by name, which takes long.
struct KeyLabels {
  private typealias Label = (UInt64, UInt64, UInt64)

  /// A label with its key at each index that is a hash of a label.
  private var known: [(label: Label, key: KeyCode)] = []

  /// The width of a label, with spaces behind the name, and a space behind it.
  private static let width = 21

  /// The key of the label at `text`; `nil` if it is not a name that libevdev knows.
  subscript(text: UnsafeRawPointer) -> KeyCode? {
    @inline(__always)
    mutating get {
      let label = (text.characters, (text + 8).characters, (text + 16).characters & 0xff_ffff_ffff)
      let hash = (label.0 ^ label.1 &* 31 ^ label.2) &* 0x9e37_79b9_7f4a_7c15
      let index = Int(truncatingIfNeeded: hash >> 56)
      if index < known.count, known[index].label == label { return known[index].key }
      return add(text, label, at: index)
    }
  }

  @inline(never)
  private mutating func add(_ text: UnsafeRawPointer, _ label: Label, at index: Int) -> KeyCode? {
    let padded = UnsafeRawBufferPointer(start: text, count: Self.width)
    let name = padded.prefix { $0 != .space }
    guard padded.dropFirst(name.count).allSatisfy({ $0 == .space }), name.count < Self.width,
      let key = KeyCode(name: String(decoding: name, as: UTF8.self))
    else { return nil }
    if known.isEmpty { known = Array(repeating: (label, key), count: 256) }
    known[index] = (label, key)
    return key
  }
}
