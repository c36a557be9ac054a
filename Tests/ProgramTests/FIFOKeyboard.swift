import Foundation
import Linux
import Terminal
import TestSupport
import Testing

/// A keyboard for a daemon on a machine without /dev/input: a FIFO into which tests write keys.
final class FIFOKeyboard {
  /// A key, by its code in the kernel's linux/input-event-codes.h.
  enum Key: UInt16 {
    case y = 21
    case leftShift = 42
    case f9 = 67
  }

  private let folder: TemporaryFolder
  private let descriptor: Int32

  /// The path of the FIFO.
  var path: String { "\(folder.path)/keyboard" }

  /// What a daemon needs to take the FIFO for a keyboard.
  let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    let library = "\(folder.path)/fifo_keyboard.so"
    let source = "\(Place.checkout)/Tests/support/fifo_keyboard.c"
    let ended = try run("/usr/bin/gcc", "-O2", "-shared", "-fPIC", "-o", library, source)
    try #require(ended.status == 0, "\(ended.errors)")
    environment = ["LD_PRELOAD": library]
    let path = "\(folder.path)/keyboard"
    try #require(mkfifo(path, 0o600) == 0)
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

  /// Writes all events at once, each with the SYN_REPORT behind it.
  func write(_ events: some Sequence<Event>) throws {
    var bytes: [UInt8] = []
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number) { bytes += $0 }
    }
    for event in events {
      let press: Int32 = event.isPress ? 1 : 0
      for (type, code, value) in [(UInt16(1), event.key.rawValue, press), (0, 0, 0)] {
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
