import KeyboardModes

/// The content of a line or record of a recording.
enum Entry {
  /// An event of the kernel.
  case event(InputEvent)
  /// These keys were down when the device was opened.
  case held([KeyCode], device: Int)
  /// These LEDs were on or off when the device was opened.
  case leds(LEDReport, device: Int)
  /// The device has these ids. `nil` means that its description begins and the ids will follow.
  case ids(HardwareIDs?, device: Int)
  /// The device is a node of the physical device with this number in the file.
  case parent(UInt16, device: Int)
  /// Events of the device were lost. Its next report has the keys that differ from before.
  case lost(device: Int)
  /// The next report of the device is a release that a grab hid.
  case missed(device: Int)
  /// The device was removed. The time is `nil` if the format does not have it.
  case gone(device: Int, at: Time?)
}

/// The notes that `keymodectl record` writes, so that a recording replays exactly. Other readers of
/// libinput's format ignore them.
///
///     - keymoded: {held: [29, 56]}
///     - keymoded: lost
///
/// Devices with the same `parent` are nodes of one physical device: see ``TwinKeys``.
enum Note {
  static let parent = "parent"
  static let held = "held"
  static let lost = "lost"
  static let missed = "missed"
  static let gone = "gone"
  static let lit = "lit"
  static let unlit = "unlit"
}

/// The bus of a device, a `BUS_*` of `linux/input.h`, and its vendor and product numbers.
struct HardwareIDs: Hashable {
  let bus, vendor, product: UInt16

  var isVirtualShift: Bool { VirtualShift.matches(bus: bus, vendor: vendor, product: product) }
}

/// One event of any type, as the kernel reports it: `struct input_event`.
struct InputEvent: Hashable {
  let time: Time
  let type: UInt16
  let code: UInt16
  let value: Int32

  /// The number of its device in the recording, from 0.
  var device = 0

  /// Four types of events, then three codes, from `linux/input-event-codes.h`.
  static let synchronization: UInt16 = 0
  static let key: UInt16 = 1
  static let miscellaneous: UInt16 = 4
  static let led: UInt16 = 0x11
  static let report: UInt16 = 0
  static let dropped: UInt16 = 3
  static let scanCode: UInt16 = 4
}

extension LEDReport {
  /// The report that the LED with this number is on, or off if `value` is 0; `nil` if no lock has
  /// this LED.
  init?(number: UInt16, value: Int32) {
    let led = LEDs(number: number)
    guard Lock.allCases.contains(where: { $0.led == led }) else { return nil }
    self.init(led, on: value == 0 ? [] : led)
  }
}

/// Parses the lines of a text format, or the records of a binary one.
protocol EntryParser {
  /// The size of a record, in bytes; `nil` if the format has lines.
  var recordSize: Int? { get }

  /// Whether a line was found that only this format has.
  var isRecognized: Bool { get }

  /// Whether the recording is known to be in the order of time.
  var isInOrder: Bool { get }

  /// A warning about the recording, if its lines so far give a reason.
  var warning: String? { get }

  /// Parses one line or record.
  ///
  /// - Returns: the content of the line; `nil` if nothing in the line matters.
  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry?

  /// The next inputs of a recording in this format. All parsers use the default implementation. It
  /// is a requirement so that each parser has a compiled copy, with ``parse(_:)`` inlined.
  mutating func next(from reader: inout EntryReader) throws(RecordingError) -> RecordedBatch?
}

extension EntryParser {
  var recordSize: Int? { nil }
  var isInOrder: Bool { true }
  var warning: String? { nil }

  mutating func next(from reader: inout EntryReader) throws(RecordingError) -> RecordedBatch? {
    try reader.next(with: &self)
  }

  /// Whether the parser recognizes its format by this line alone.
  func recognizes(_ line: UnsafeRawBufferPointer) -> Bool {
    var parser = self
    _ = try? parser.parse(line)
    return parser.isRecognized
  }
}
