internal import Evdev
internal import EventRecordings
internal import Glibc
internal import KeyboardModes
internal import LinuxInput
public import SystemCalls
internal import Systemd

/// Records keyboards until SIGINT, SIGTERM or SIGHUP, or until all of them are gone.
///
/// It reads them as the daemon does, so that a replay makes the changes that the daemon would have
/// published: the keys that are down at the start, the differences after a loss of events, and the
/// releases that a grab hid are recorded too. Reports of several devices are ordered by time. If the
/// kernel delivers one behind a later one of another device, which takes microseconds, a replay sorts
/// them.
public final class Recorder {
  /// What people are told during a recording.
  public enum Notice {
    /// The recording of this many keyboards begins; the file has been created.
    case started(keyboards: Int)
    /// A keyboard cannot be opened; the others are recorded.
    case unopened(SystemError)
    /// The keyboard of this name is gone.
    case gone(name: String)
    /// A keyboard can no longer be read.
    case failed(SystemError)
  }

  /// How a recording ended.
  public enum Ending {
    /// All keyboards were recorded until the end.
    case complete
    /// Some were lost before the end.
    case incomplete
    /// The reader of the recording closed it.
    case unread
    /// The rest could not be written. What was written before is kept.
    case failed(SystemError)
  }

  private enum Stage {
    /// The keyboards are being opened. `refusal` is the error of the first that cannot be.
    case opening(early: [Controller.Input], refusal: SystemError?)
    case recording(RecordingFile)
    case failed(SystemError)
  }

  private let request: RecordingRequest
  private let notify: (Notice) -> Void
  private let loop: EventLoop
  private var signals: [EventSource] = []
  private var keyboards: Keyboards?
  private var devices = RecordedDevices()
  private var filter: RecordingFilter
  private var stage = Stage.opening(early: [], refusal: nil)

  /// A recorder that has not opened anything.
  ///
  /// - Throws: `SystemError` if there can be no event loop.
  public init(
    _ request: RecordingRequest, notify: @escaping (Notice) -> Void
  ) throws(SystemError) {
    self.request = request
    self.notify = notify
    loop = try EventLoop()
    filter = RecordingFilter(settings: request.settings, showsKeyCodes: request.showsKeyCodes)
  }

  /// Records until the end.
  ///
  /// - Throws: if nothing was recorded: `RecorderError`, or `SystemError` if the keyboards cannot be
  ///   opened or the file cannot be created.
  public func run() throws -> Ending {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signals.append(try loop.addSignal(number) { [loop] in loop.stop() })
    }
    try open()
    let format = try format()
    let output = try request.output.map(AppendedFile.init(creating:)) ?? .standardOutput()
    notify(.started(keyboards: devices.descriptions.count))
    let file = try RecordingFile(output, format, devices.descriptions, remarks: request.remarks)
    let before = stage
    stage = .recording(file)
    if case .opening(let early, _) = before { write(early, to: file) }
    if case .recording = stage { try loop.run() }
    return finish(file)
  }

  private func open() throws {
    let keyboards = Keyboards(
      loop, request.selection, deliver: { [unowned self] in take($0) },
      report: { [unowned self] in take($0) })
    self.keyboards = keyboards
    try keyboards.start(followingNewcomers: false)
    if case .all = request.selection, devices.present > 0 { return }
    if case .opening(_, let refusal?) = stage { throw refusal }
    guard devices.present > 0 else { throw RecorderError.noKeyboard }
  }

  private func format() throws(RecorderError) -> WrittenFormat {
    let count = devices.descriptions.count
    guard count > 1 else { return request.format ?? .evemu }
    guard request.format != .evemu else { throw .tooManyKeyboards(count) }
    return .libinput
  }

  private func finish(_ file: RecordingFile) -> Ending {
    do throws(SystemError) {
      if case .failed(let failure) = stage {
        // The lists of the other devices may still fit.
        try? file.finish()
        throw failure
      }
      try file.finish()
    } catch {
      return error.code == EPIPE ? .unread : .failed(error)
    }
    return devices.areComplete ? .complete : .incomplete
  }

  // MARK: Keyboards

  private func take(_ report: Keyboards.Report) {
    switch report {
    case .followed(let id, let device):
      let description = device.description
      devices.add(id, description)
      filter.add(id, keys: description.keys)
    case .gone(_, let device), .released(_, let device): lose(.gone(name: device.name))
    case .failed(let error):
      guard case .opening(let early, let refusal) = stage else { return lose(.failed(error)) }
      stage = .opening(early: early, refusal: refusal ?? error)
      if case .all = request.selection { notify(.unopened(error)) }
    case .unlit: break  // A recorder switches no LEDs.
    }
  }

  private func lose(_ notice: Notice) {
    notify(notice)
    devices.lose()
    if devices.present == 0 { loop.stop() }
  }

  private func take(_ inputs: [Controller.Input]) {
    switch stage {
    case .opening(let early, let refusal):
      stage = .opening(early: early + inputs, refusal: refusal)
    case .recording(let file): write(inputs, to: file)
    case .failed: break
    }
  }

  private func write(_ inputs: [Controller.Input], to file: RecordingFile) {
    let written = filter.take(inputs) { keyboards?.keysUp(among: $0, on: $1) ?? [] }
    let now = Time(microseconds: microsecondsSinceBoot())
    do throws(SystemError) {
      for report in Report.reports(of: written, at: now) {
        guard let section = devices.index(of: report.device) else { continue }
        file.write(report, section)
      }
      try file.flush()
    } catch {
      stage = .failed(error)
      loop.stop()
    }
  }
}

/// Why nothing can be recorded.
public enum RecorderError: Error, Hashable, TerminalTextConvertible {
  /// There is no keyboard.
  case noKeyboard
  /// The format can hold one keyboard, and there are this many.
  case tooManyKeyboards(Int)

  /// The reason in words.
  public var text: TerminalText {
    switch self {
    case .noKeyboard: "no keyboard is there"
    case .tooManyKeyboards(let count):
      "evemu records one device, and there are \(count): name one, or use libinput"
    }
  }
}
