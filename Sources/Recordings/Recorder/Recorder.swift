import Glibc
import KeyboardModes
import Keyboards
import Linux
public import Terminal

/// Records keyboards until SIGINT, SIGTERM or SIGHUP, or until all of them are gone. The buttons of
/// pointers are recorded too, in a format that holds several devices.
///
/// It reads them as the daemon does, so that a replay makes the changes that the daemon would have
/// published: the keys that are down at the start, the differences after a loss of events, and the
/// releases that a grab hid are recorded too. Reports of several devices are ordered by time. The
/// kernel may deliver one some microseconds after a later one of another device: then a replay
/// sorts them.
public final class Recorder {
  private let request: RecordingRequest
  private let notify: (TerminalText) -> Void
  private let loop: EventLoop
  private var signals: [EventSource] = []
  /// Wakes the recorder to look for a release that a grab hides.
  private var timer: EventSource?
  private let keyboards: Keyboards
  private var devices = RecordedDevices()
  private var filter: RecordingFilter
  /// The recording; `nil` while the keyboards are being opened.
  private var file: RecordingFile?
  /// What was typed while the keyboards were being opened.
  private var early: [Controller.Input] = []
  /// The error of the first keyboard that could not be opened.
  private var refusal: SystemError?
  /// Why the recording could not be written any further.
  private var failure: SystemError?
  /// Whether no device was lost.
  private var isComplete = true

  /// A recorder that has not opened anything.
  ///
  /// - Parameter notify: receives messages for people: that the recording begins, and which devices
  ///   are left out or lost.
  /// - Throws: `SystemError` if there can be no event loop.
  public init(
    _ request: RecordingRequest, notify: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    self.request = request
    self.notify = notify
    loop = try EventLoop()
    keyboards = Keyboards(request.selection)
    filter = RecordingFilter(settings: request.settings, showsKeyCodes: request.showsKeyCodes)
  }

  /// Records until the end, or until the reader of the recording closes it.
  ///
  /// - Returns: whether no device was lost; `true` in any case if the reader closed the recording.
  /// - Throws: `NoKeyboard`; `SystemError` if a keyboard cannot be opened or the file cannot be
  ///   created; `UsageError` if there are more keyboards than the format can hold.
  public func run() throws -> Bool {
    signals = try loop.addSignals([SIGINT, SIGTERM, SIGHUP]) { [loop] _ in loop.stop() }
    try open()
    let format = try format()
    if format == .evemu, devices.descriptions.count > 1 { leaveOutOthers() }
    let file = try RecordingFile(
      request.output, format, devices.descriptions, remarks: request.remarks)
    notify(announcement)
    self.file = file
    write(Batch(early), to: file)
    if failure == nil { try loop.run() }
    return try finish(file)
  }

  private func open() throws {
    timer = try loop.addTimer { [unowned self] in read() }
    try keyboards.start(on: loop, followingNewcomers: false) { [unowned self] in read() }
    if case .all = request.selection, readable > 0 { return }
    if let refusal { throw refusal }
    guard readable > 0 else { throw NoKeyboard() }
  }

  /// How many devices there are to record now; pointers count only if they were named.
  private var readable: Int {
    if case .all = request.selection { return keyboards.keyboardCount }
    return keyboards.devices.count
  }

  private func format() throws(UsageError) -> WrittenFormat {
    let count = readable
    guard count > 1 else { return request.format ?? .evemu }
    guard request.format != .evemu else {
      throw UsageError(
        "evemu's format holds one device, but there are \(count); name one device, "
          + "or use --format libinput")
    }
    return .libinput
  }

  /// Closes the pointers, and the virtual keyboard: the format holds one device.
  private func leaveOutOthers() {
    let hasPointers = keyboards.devices.contains { $0.role == .pointer }
    for id in keyboards.releaseOthers() { devices.remove(id) }
    read()
    early.removeAll { $0.device.map { devices.index(of: $0) == nil } ?? false }
    guard hasPointers else { return }
    notify(
      "without the buttons of pointers, because evemu's format holds one device; "
        + "--format libinput has them")
  }

  private var announcement: TerminalText {
    let pointers = keyboards.devices.count { $0.role == .pointer }
    let virtual = keyboards.devices.count { $0.role == .leds }
    let counts = [
      (devices.descriptions.count - pointers - virtual, "keyboard"), (pointers, "pointer"),
      (virtual, "virtual keyboard"),
    ]
    let recorded = counts.filter { $0.0 > 0 }.map { count, name in
      count == 1 ? "1 \(name)" : "\(count) \(name)s"
    }.joined(separator: " and ")
    let place: TerminalText = request.output.map { " to '\($0)'" } ?? ""
    return request.showsKeyCodes
      ? "recording \(recorded)\(place); Ctrl+C ends it\n"
        + "not redacted: the recording shows what is typed, passwords too"
      : "recording \(recorded)\(place), redacted; Ctrl+C ends it"
  }

  private func finish(_ file: RecordingFile) throws(SystemError) -> Bool {
    do throws(SystemError) {
      if let failure { throw failure }
      try file.finish()
    } catch {
      guard error.code == EPIPE else {
        throw SystemError(
          error.operation, error.subject, code: error.code,
          reason: "\(error.reason); the recording is incomplete")
      }
      return true
    }
    return isComplete
  }

  // MARK: Keyboards

  private func read() {
    var batch = Batch()
    keyboards.read(into: &batch)
    let reports = keyboards.takeReports()
    // The devices are known before their inputs, and are lost after them.
    for case .followed(let id, let device) in reports { add(id, device) }
    if let file { write(batch, to: file) } else { early += batch.inputs }
    for report in reports { take(report) }
  }

  private func add(_ id: DeviceID, _ device: InputDevice) {
    let description = device.description
    devices.add(id, description)
    filter.add(id, keys: description.keys)
  }

  private func take(_ report: Keyboards.Report) {
    switch report {
    case .followed: break
    case .gone(let id, let device), .released(let id, let device):
      // A format for one device has no pointers; that one is gone is no loss.
      if devices.index(of: id) != nil { lose("'\(device.name)' is gone") }
    case .failed(let error):
      guard file == nil else { return lose(error.text) }
      refusal = refusal ?? error
      if case .all = request.selection { notify(error.text) }
    case .failedLEDs: break  // A recorder switches no LEDs.
    }
  }

  private func lose(_ message: TerminalText) {
    notify("\(message); the recording keeps its events so far")
    isComplete = false
    if readable == 0 { loop.stop() }
  }

  private func write(_ batch: Batch, to file: RecordingFile) {
    guard failure == nil else { return }
    let written = filter.take(batch) { keyboards.keysUp(among: $0, on: $1) }
    if let time = filter.wakeTime {
      timer?.set(at: UInt64(clamping: Keyboards.bootTime(settling: time)))
    }
    let now = Keyboards.now
    do throws(SystemError) {
      for report in Report.reports(of: written, at: now) {
        guard let section = devices.index(of: report.device) else { continue }
        file.write(report, section)
      }
      try file.flush()
    } catch {
      failure = error
      loop.stop()
    }
  }
}

/// The devices that are recorded, in the order in which they were opened; also those that are gone.
struct RecordedDevices {
  private var ids: [DeviceID] = []
  private(set) var descriptions: [DeviceDescription] = []

  mutating func add(_ id: DeviceID, _ description: DeviceDescription) {
    ids.append(id)
    descriptions.append(description)
  }

  /// Takes a device out, as if it had not been added.
  mutating func remove(_ id: DeviceID) {
    guard let index = index(of: id) else { return }
    ids.remove(at: index)
    descriptions.remove(at: index)
  }

  /// The index of a device in ``descriptions``.
  func index(of id: DeviceID) -> Int? { ids.firstIndex(of: id) }
}
