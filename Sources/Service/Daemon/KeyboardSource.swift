import Configuration
import KeyboardModes
import Keyboards
import System
import Terminal
import Wire

/// Keyboards as a source of inputs. Logs which devices come and go, and updates the status.
final class KeyboardSource: InputSource {
  private let keyboards: Keyboards
  private let paths: [String]?
  private let status: ServiceStatus

  /// - Parameter paths: the devices to follow; all that `configuration` selects if `nil`.
  init(_ paths: [String]?, _ configuration: Configuration, _ status: ServiceStatus) {
    self.paths = paths
    self.status = status
    keyboards = Keyboards(KeyboardSource.selection(paths, configuration))
  }

  private static func selection(
    _ paths: [String]?, _ configuration: Configuration
  ) -> Keyboards.Selection {
    if let paths { return .named(paths) }
    return .all(configuration.devices, pointers: configuration.settings.pointers)
  }

  func start(on loop: EventLoop, ready: @escaping () -> Void) throws(SystemError) {
    try keyboards.start(on: loop, ready: ready)
    status.keyboardCount = keyboards.keyboardCount
    if keyboards.keyboardCount == 0 { Log.info("no keyboard can be read yet; waiting for one") }
  }

  func read(into batch: inout Batch) {
    keyboards.read(into: &batch)
    logReports()
  }

  private func logReports() {
    let reports = keyboards.takeReports()
    guard !reports.isEmpty else { return }
    for report in reports { KeyboardSource.log(report) }
    status.keyboardCount = keyboards.keyboardCount
  }

  private static func log(_ report: Keyboards.Report) {
    switch report {
    case .followed(_, let device): Log.info("following '\(device.name)'")
    case .gone(_, let device): Log.info("'\(device.name)' is gone")
    case .released(_, let device): Log.info("not following '\(device.name)' any more")
    case .failed(let error): Log.warning("\(error)")
    case .failedLEDs(_, let device, let error):
      Log.warning("the LEDs of '\(device.name)' show no states: \(error)")
    }
  }

  var now: Time { Keyboards.now }

  func bootTime(reaching time: Time) -> Int64 { Keyboards.bootTime(reaching: time) }

  var devices: [DeviceMessage] {
    keyboards.devices.filter { $0.role != .leds }.map { device, role in
      DeviceMessage(
        name: device.name, node: device.path, vendor: device.vendor, product: device.product,
        isKeyboard: role == .keyboard, isPointer: role == .pointer)
    }
  }

  var unopenedCount: Int? { keyboards.unopenedCount }

  var longHolds: [LongHold] { keyboards.longHolds }

  var canFindKeysUp: Bool { true }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] {
    keyboards.keysUp(among: keys, on: device)
  }

  func apply(_ configuration: Configuration) throws(SystemError) {
    try keyboards.follow(KeyboardSource.selection(paths, configuration))
  }

  func show(_ leds: LEDCommand) {
    keyboards.show(leds)
    logReports()
  }
}
