import CLibevdev
import Glibc
public import KeyboardModes
public import System
import Terminal

/// The LEDs of a device that is followed.
///
/// The LEDs are written through a second descriptor. The first descriptor is for reading, and
/// reopening it would lose keys. The second descriptor is open only while LEDs are in use, because
/// the system may refuse to open a device for writing. All events of the second descriptor are
/// masked.
public final class DeviceLEDs {
  private let device: InputDevice
  private let leds: LEDs
  private var descriptor: FileDescriptor?
  /// The LEDs that were switched on through this descriptor.
  private var on: LEDs = []
  private var lastError: SystemError?

  /// The LEDs of this device. None of them is set until ``show(_:)``.
  public init(of device: InputDevice) {
    self.device = device
    leds = device.leds
  }

  /// Switches the LEDs as `command` says. LEDs that this object switched on and that are not in
  /// ``LEDCommand/used`` any more are switched off.
  ///
  /// - Returns: the error; `nil` without an error, for the same error as last time, or if the
  ///   device is gone.
  public func show(_ command: LEDCommand) -> SystemError? {
    let used = command.used.intersection(leds)
    if used.isEmpty, descriptor == nil {
      lastError = nil
      return nil
    }
    do throws(SystemError) {
      try set(command.on.intersection(used), of: used.union(on))
      if used.isEmpty { close() }
      lastError = nil
      return nil
    } catch {
      close()
      // Reading the device reports its removal.
      guard !device.isGone else { return nil }
      defer { lastError = error }
      return error == lastError ? nil : error
    }
  }

  /// Switches `on` on, and the rest of `affected` off. The kernel ignores LEDs that do not change.
  private func set(_ on: LEDs, of affected: LEDs) throws(SystemError) {
    let number = try openDescriptor()
    let changes = affected.numbers.map {
      input_event(EV_LED, $0, on.contains(LEDs(number: $0)) ? 1 : 0)
    }
    // The last event is a SYN_REPORT, whose numbers are all 0.
    let events = changes + [input_event()]
    try retrying("write", device.path) {
      write(number, events, events.count * MemoryLayout<input_event>.stride)
    }
    self.on = on
  }

  private func openDescriptor() throws(SystemError) -> Int32 {
    if let number = descriptor?.number { return number }
    do throws(SystemError) {
      let opened = try device.openAgain(O_WRONLY)
      let number = opened.number
      descriptor = consume opened
      return number
    } catch {
      throw SystemError("write", device.path, code: error.code)
    }
  }

  private func close() {
    descriptor = nil
    on = []
  }
}

extension input_event {
  fileprivate init(_ type: Int32, _ code: UInt16, _ value: Int32) {
    self.init()
    (self.type, self.code, self.value) = (UInt16(type), code, value)
  }
}
