import KeyboardModes
public import Keyboards
import Terminal

/// Writes a recording of one device as `evemu-record` does, in version 1.3 of its format.
/// `evemu-device` creates the same device from it, and `evemu-play` plays it.
public struct EvemuWriter: RecordingWriter {
  private var comment = EventComment()

  /// A writer of the reports of one device.
  public init() {}

  /// The text before the events: the description of the device.
  ///
  /// - Parameter remarks: comment lines for the user.
  public static func header(_ device: DeviceDescription, remarks: [String]) -> String {
    var lines = ["# EVEMU 1.3"] + remarks.map { "# \($0)" }
    // A line end would end the name, and a terminal may show the recording.
    lines.append("N: \(printable(String(device.name.map { $0.isNewline ? " " : $0 })))")
    let numbers = [device.bus, device.vendor, device.product, device.version]
    lines.append("I: " + numbers.map { padded($0, 4, radix: 16, "0") }.joined(separator: " "))
    lines += mask(device.properties, highest: 31).map { "P: \($0)" }
    lines += mask(device.types.map(\.number), highest: 31).map { "B: 00 \($0)" }
    for type in device.types where type.number > 0 {
      let number = padded(type.number, 2, radix: 16, "0")
      lines += mask(type.codes, highest: type.highest).map { "B: \(number) \($0)" }
    }
    for axis in device.axes {
      let numbers = [axis.minimum, axis.maximum, axis.fuzz, axis.flat, axis.resolution]
      let text = numbers.map { "\($0)" }.joined(separator: " ")
      lines.append("A: \(padded(axis.code, 2, radix: 16, "0")) \(text)")
    }
    lines += states("L", InputEvent.led, device.ledsOn, device)
    lines += states("S", 0x05, device.switchesOn, device)
    return lines.joined(separator: "\n") + "\n"
  }

  /// A set of bits as hexadecimal bytes, eight per line, the lowest first.
  private static func mask(_ bits: [UInt16], highest: UInt16) -> [String] {
    var bytes = [UInt8](repeating: 0, count: (Int(highest) / 64 + 1) * 8)
    for bit in bits where bit <= highest { bytes[Int(bit / 8)] |= 1 << (bit % 8) }
    return stride(from: 0, to: bytes.count, by: 8).map { start in
      bytes[start..<start + 8].map { padded($0, 2, radix: 16, "0") }.joined(separator: " ")
    }
  }

  private static func states(
    _ mark: String, _ type: UInt16, _ on: Set<UInt16>, _ device: DeviceDescription
  ) -> [String] {
    (device.types.first { $0.number == type }?.codes ?? []).map {
      "\(mark): \(padded($0, 2, radix: 16, "0")) \(on.contains($0) ? 1 : 0)"
    }
  }

  /// The lines of `report`.
  public mutating func text(of report: Report) -> String {
    switch report.content {
    case .held(let keys):
      let codes = keys.map { padded($0.number, 4, radix: 16, "0") }.joined(separator: " ")
      return "\(Note.mark)\(Note.held) \(codes)\n"
    case .lost: return "\(Note.mark)\(Note.lost)\n" + events(report)
    // The recording has one device, so the order of the lines is enough.
    case .keys, .missedRelease, .leds: return events(report)
    case .ledsAtOpening: return ""  // The header has them.
    case .gone: return "\(Note.mark)\(Note.gone) \(seconds(report.time.microseconds))\n"
    }
  }

  private mutating func events(_ report: Report) -> String {
    report.events.map { event in
      let time = seconds(event.time.microseconds)
      let type = padded(event.type, 4, radix: 16, "0")
      let code = padded(event.code, 4, radix: 16, "0")
      let value = padded(event.value, 4, "0")
      return "E: \(time) \(type) \(code) \(value)\t# \(comment.text(of: event))\n"
    }.joined()
  }
}
