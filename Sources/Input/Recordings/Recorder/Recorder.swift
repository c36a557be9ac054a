import Glibc
import KeyboardModes
import Keyboards
public import System
public import Terminal

/// Records keyboards, and the buttons of pointers, until SIGINT, SIGTERM, SIGHUP or SIGQUIT, or
/// until all keyboards are gone. Meanwhile the terminal neither shows nor keeps what is typed on
/// it; see `SilentTerminal`.
///
/// It reads the devices as the daemon does, so that a replay makes the changes that the daemon
/// would have published. It also records the keys that are down at the start, the differences after
/// a loss of events, and the releases that a grab hid.
public final class Recorder {
  private let request: RecordingRequest
  private let terminal: SilentTerminal?
  private let notify: (TerminalText) -> Void
  private let loop: EventLoop
  private var signals: [EventSource] = []
  /// Wakes the recorder to ask the kernel for a release that a grab may hide.
  private var timer: EventSource?
  private let keyboards: Keyboards
  /// The devices in the order in which they were opened, removed devices included. The index of a
  /// device is the `order` of its `DeviceID`.
  private var devices: [DeviceDescription] = []
  /// The numbers of the physical devices in the recording, at the same indices as ``devices``.
  private var parents: [Int] = []
  private var filter: RecordingFilter
  /// The recording; `nil` while the keyboards are being opened.
  private var file: RecordingFile?
  /// The inputs that were read before the recording was created.
  private var earlyInputs: [Controller.Input] = []
  /// The errors of the keyboards that could not be opened.
  private var openingErrors: [SystemError] = []
  /// The error at which writing the recording stopped.
  private var outputError: SystemError?
  /// Whether no device was lost.
  private var isComplete = true

  /// A recorder that has no device and no file open yet.
  ///
  /// - Parameter notify: receives messages for people: that the recording begins, and which devices
  ///   cannot be read or are lost.
  /// - Throws: `SystemError` if there can be no event loop.
  public init(
    _ request: RecordingRequest, on terminal: SilentTerminal? = nil,
    notify: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    (self.request, self.terminal, self.notify) = (request, terminal, notify)
    loop = try EventLoop()
    keyboards = Keyboards(request.selection)
    filter = RecordingFilter(settings: request.settings, showsKeyCodes: request.showsKeyCodes)
  }

  /// Records until a signal comes, all keyboards are lost, or the recording's reader closes it.
  ///
  /// - Returns: whether no device was lost; `true` in any case if the reader closed the recording.
  /// - Throws: `NoKeyboard`; `SystemError` if no keyboard can be opened, if a named device cannot
  ///   be opened, or if the file cannot be created or written.
  public func run() throws -> Bool {
    signals = try loop.stopAtSignals(leaving: terminal)
    terminal?.enter()
    defer { terminal?.leave() }
    try open()
    let file = try RecordingFile(
      request.output, devices, parents: devices.count > 1 ? parents : [], remarks: request.remarks)
    notify(announcement)
    self.file = file
    write(Batch(earlyInputs), to: file)
    if outputError == nil { try loop.run() }
    return try finish(file)
  }

  private func open() throws {
    timer = try loop.addTimer { [unowned self] in read() }
    try keyboards.start(on: loop, followingNewcomers: false) { [unowned self] in read() }
    if case .all = request.selection, readableCount > 0 {
      for error in openingErrors { notify("\(error)") }
      return
    }
    if let error = openingErrors.first { throw error }
    guard readableCount > 0 else { throw NoKeyboard() }
  }

  /// The number of keyboards that can be read now. If the request names devices, all devices count.
  private var readableCount: Int {
    if case .all = request.selection { return keyboards.keyboardCount }
    return keyboards.devices.count
  }

  private var announcement: TerminalText {
    let names: [(DeviceRole, String)] = [
      (.keyboard, "keyboard"), (.keys, "other device"), (.pointer, "pointer"),
      (.leds, "virtual keyboard"),
    ]
    let recorded = names.compactMap { role, name in
      let count = keyboards.devices.count { $0.role == role }
      return count == 0 ? nil : count == 1 ? "1 \(name)" : "\(count) \(name)s"
    }.joined(separator: " and ")
    let place: TerminalText = request.output.map { " to '\($0)'" } ?? ""
    return request.showsKeyCodes
      ? "recording \(recorded)\(place); Ctrl+C ends it\n"
        + "not redacted: the recording shows what is typed, passwords too"
      : "recording \(recorded)\(place), redacted; Ctrl+C ends it"
  }

  private func finish(_ file: RecordingFile) throws(SystemError) -> Bool {
    do throws(SystemError) {
      if let outputError { throw outputError }
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
    // A device must be added before its inputs are written, and is reported as lost after them.
    for case .followed(let id, let device) in reports { add(id, device) }
    if let file { write(batch, to: file) } else { earlyInputs += batch.inputs }
    for report in reports { handle(report) }
  }

  private func add(_ id: DeviceID, _ device: InputDevice) {
    let description = device.description
    devices.append(description)
    // A redacted recording has each press only once, so no two of its devices share a parent.
    parents.append(request.showsKeyCodes ? id.parent ?? id.order : id.order)
    filter.add(id, keys: description.keys)
  }

  private func handle(_ report: Keyboards.Report) {
    switch report {
    case .followed: break
    case .gone(_, let device), .released(_, let device):
      noteLoss("'\(device.name)' is gone")
    case .failed(let error):
      guard file == nil else { return noteLoss("\(error)") }
      openingErrors.append(error)
    case .failedLEDs: break  // A recorder switches no LEDs.
    }
  }

  private func noteLoss(_ message: TerminalText) {
    notify("\(message); the recording keeps its events so far")
    isComplete = false
    if readableCount == 0 { loop.stop() }
  }

  private func write(_ batch: Batch, to file: RecordingFile) {
    guard outputError == nil else { return }
    let written = filter.handle(batch) { keyboards.keysUp(among: $0, on: $1) }
    if let time = filter.wakeTime {
      timer?.set(at: UInt64(clamping: Keyboards.bootTime(reaching: time)))
    }
    do throws(SystemError) {
      file.add(written)
      try file.flush()
    } catch {
      outputError = error
      loop.stop()
    }
  }
}
