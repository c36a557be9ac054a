import Foundation
import System
import Terminal
import TestSupport
import Testing

/// A keyboard for a daemon on a machine without /dev/input: a FIFO into which tests write keys. Its
/// `deinit` unplugs it.
final class FIFOKeyboard {
  /// A key, by its code in the kernel's linux/input-event-codes.h.
  enum Key: UInt16 {
    case leftCtrl = 29
    case leftShift = 42
    case capsLock = 58
    case f9 = 67
  }

  private let folder: TemporaryFolder
  private let descriptor: Int32

  /// The path of the FIFO.
  var path: String { "\(folder.path)/keyboard" }

  /// What a daemon needs to take the FIFO for a keyboard.
  let environment: [String: String]

  /// The LEDs of locks, by the bits of their numbers in the kernel's header.
  struct LEDs: OptionSet {
    let rawValue: UInt16
    static let num = LEDs(rawValue: 1)
    static let caps = LEDs(rawValue: 2)
  }

  /// A keyboard with the LEDs of locks, of which these are on, or without LEDs.
  init(leds: LEDs? = nil) throws {
    folder = try TemporaryFolder()
    let library = "\(folder.path)/fifo_keyboard.so"
    let source = "\(checkout)/Tests/support/fifo_keyboard.c"
    let ended = try run("/usr/bin/gcc", "-O2", "-shared", "-fPIC", "-o", library, source)
    try #require(ended.status == 0, "\(ended.errors)")
    environment = ["LD_PRELOAD": library]
    let path = "\(folder.path)/keyboard"
    try #require(mkfifo(path, 0o600) == 0)
    if let leds { _ = try folder.write("keyboard.leds", "\(leds.rawValue)") }
    // Open for both, so that neither side's opening waits, and no end is read.
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
  }

  deinit { close(descriptor) }

  /// A press or a release of a key, at a time since boot in microseconds.
  struct Event {
    let key: Key
    let isPress: Bool
    let time: Int64
  }

  /// Has exactly these LEDs on. No event tells of that, as while another program has grabbed it.
  func showUntold(_ leds: LEDs) throws { _ = try folder.write("keyboard.leds", "\(leds.rawValue)") }

  /// Has exactly these LEDs on, one set after the other, and writes all events at once.
  func show(_ all: [LEDs], at microseconds: Int64? = nil) throws {
    if let last = all.last { try showUntold(last) }
    let time = microseconds ?? microsecondsSinceBoot()
    try write(
      all.flatMap { leds in
        [LEDs.num, .caps].enumerated().map { number, led in
          (type: 17, code: UInt16(number), value: leds.contains(led) ? 1 : 0, time: time)
        }
      })
  }

  /// Tells that the kernel has dropped events: `SYN_DROPPED`.
  func drop(at microseconds: Int64) throws { try write([(0, 3, 0, microseconds)]) }

  /// Writes all events at once, each with the SYN_REPORT behind it.
  func write(_ events: some Sequence<Event>) throws {
    try write(events.map { (1, $0.key.rawValue, $0.isPress ? 1 : 0, $0.time) })
  }

  private func write(_ events: [(type: UInt16, code: UInt16, value: Int32, time: Int64)]) throws {
    var bytes: [UInt8] = []
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number) { bytes += $0 }
    }
    for event in events {
      for (type, code, value) in [(event.type, event.code, event.value), (0, 0, 0)] {
        add(event.time / 1_000_000)
        add(event.time % 1_000_000)
        add(type)
        add(code)
        add(value)
      }
    }
    try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  func press(_ key: Key, at microseconds: Int64? = nil) throws {
    try write([Event(key: key, isPress: true, time: microseconds ?? microsecondsSinceBoot())])
  }

  func release(_ key: Key, at microseconds: Int64? = nil) throws {
    try write([Event(key: key, isPress: false, time: microseconds ?? microsecondsSinceBoot())])
  }

  /// Presses a key, and releases it a millisecond later.
  func tap(_ key: Key, at microseconds: Int64? = nil) throws {
    let time = microseconds ?? microsecondsSinceBoot()
    try press(key, at: time)
    try release(key, at: time + 1000)
  }
}
