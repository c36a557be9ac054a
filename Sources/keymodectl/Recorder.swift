import Evdev
import EventRecordings
import Glibc
import KeyboardModes
import KeymodeInterface
import LinuxInput
import SystemCalls
import Systemd

/// Records what the daemon would have taken from the same keyboards, until it is interrupted.
///
/// It reads as the daemon reads, so that a replay gives what the daemon would have published: with the
/// keys that were down at the start, what was found after a loss, and the releases that a grab kept
/// back. Of several devices the order is that of the times: where the kernel hands a report over
/// behind a later one of another device, which takes microseconds, a replay has them in order.
final class Recorder {
  private struct Device {
    let id: DeviceID
    let description: DeviceDescription
  }

  private let request: RecordingRequest
  private let loop: EventLoop
  private var signals: [EventSource] = []
  private var keyboards: Keyboards?
  private var devices: [Device] = []
  private var controller: Controller
  private var redactor: Redactor
  private var file: RecordingFile?

  /// What happened before the file was there.
  private var early: [Controller.Input] = []

  /// Why a device cannot be opened, of the first that cannot.
  private var refusal: SystemError?

  /// Why nothing more can be written.
  private var failure: SystemError?

  /// How many of the devices are still there.
  private var present = 0

  init(_ request: RecordingRequest) throws {
    self.request = request
    loop = try EventLoop()
    controller = Controller(settings: request.settings)
    redactor = Redactor(
      bindings: request.settings.bindings, debounce: request.settings.debounce)
  }

  /// - Returns: the exit status.
  func run() throws -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signals.append(try loop.addSignal(number) { [loop] in loop.stop() })
    }
    try open()
    let format = try format()
    file = try RecordingFile(
      request.output, format, devices.map(\.description), remarks: remarks, tell: announce)
    take(Batch(early))
    if failure == nil { try loop.run() }
    return try finish()
  }

  private func open() throws {
    let keyboards = Keyboards(request.selection)
    self.keyboards = keyboards
    try keyboards.start(on: loop, followingNewcomers: false) { [unowned self] in read() }
    if case .all = request.selection, present > 0 { return }
    if let refusal { throw refusal }
    guard present > 0 else { throw NoKeyboard() }
  }

  private func format() throws -> WrittenFormat {
    guard devices.count > 1 else { return request.format ?? .evemu }
    guard request.format != .evemu else {
      throw UsageError(
        "evemu records one device, and there are \(devices.count): name one, or use libinput")
    }
    return .libinput
  }

  private func finish() throws -> Int32 {
    do throws(SystemError) {
      if let failure {
        // The lists of other devices may still fit, or go elsewhere.
        try? file?.finish()
        throw failure
      }
      try file?.finish()
    } catch {
      // Whoever was reading has seen enough.
      guard error.code != EPIPE else { return 0 }
      complain("\(error); what was written is kept")
      return Status.no
    }
    return present == devices.count ? 0 : Status.no
  }
}

/// There is no keyboard to record.
struct NoKeyboard: Error, CustomStringConvertible {
  let description = "no keyboard is there"
}

// MARK: - What happens

extension Recorder {
  private func take(_ report: Keyboards.Report) {
    switch report {
    case .followed(let id, let device):
      let description = device.description
      devices.append(Device(id: id, description: description))
      redactor.add(id, keys: description.keys)
      present += 1
    case .gone(_, let device), .released(_, let device): lost("'\(device.name)' is gone")
    case .failed(let error):
      guard file != nil else {
        refusal = refusal ?? error
        if case .all = request.selection { complain("\(error)") }
        return
      }
      lost("\(error)")
    case .failedLEDs: break  // no LED is used here
    }
  }

  private func lost(_ message: TerminalText) {
    complain("\(message); what was recorded of it is kept")
    present -= 1
    if present == 0 { loop.stop() }
  }

  private func read() {
    guard let keyboards else { return }
    var batch = Batch()
    keyboards.read(into: &batch)
    let reports = keyboards.takeReports()
    for case .followed(let id, let device) in reports { take(.followed(id, device)) }
    take(batch)
    for report in reports {
      if case .followed = report { continue }
      take(report)
    }
  }

  private func take(_ batch: Batch) {
    guard file != nil else {
      early += batch.inputs
      return
    }
    var recorded: [Controller.Input] = []
    controller.take(
      batch, keysUp: { keyboards?.keysUp(among: $0, on: $1) ?? [] },
      taken: { recorded.append($0) }, publish: { _ in })
    if !recorded.isEmpty { write(recorded) }
  }

  private func write(_ inputs: [Controller.Input]) {
    let written = request.showsKeyCodes ? inputs : inputs.compactMap { redactor.redact($0) }
    let now = Time(microseconds: microsecondsSinceBoot())
    do throws(SystemError) {
      for report in Report.reports(of: written, at: now) {
        guard let section = devices.firstIndex(where: { $0.id == report.device }) else { continue }
        try file?.write(report, section)
      }
      try file?.flush()
    } catch {
      failure = error
      loop.stop()
    }
  }
}

// MARK: - What people are told

extension Recorder {
  private var remarks: [String] {
    [
      "keymodectl record \(keymodedVersion)",
      "Times are those of CLOCK_BOOTTIME.",
      request.showsKeyCodes
        ? "Key codes are shown: what was typed can be read from this."
        : "Redacted: of keys that are neither modifiers nor bound only their kind is here.",
    ]
  }

  private func announce() {
    let keyboards = devices.count == 1 ? "1 keyboard" : "\(devices.count) keyboards"
    let place: TerminalText = request.output.map { " to '\($0)'" } ?? ""
    complain(
      request.showsKeyCodes
        ? "recording \(keyboards)\(place); Ctrl+C ends it\n"
          + "not redacted: what is typed can be read from it, passwords too"
        : "recording \(keyboards)\(place), redacted; Ctrl+C ends it")
  }
}
