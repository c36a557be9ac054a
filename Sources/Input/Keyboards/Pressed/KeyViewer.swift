import Glibc
public import KeyboardModes
public import System
public import Terminal

/// Shows each press and release of keyboards in a line, until SIGINT, SIGTERM, SIGHUP or SIGQUIT.
///
/// Meanwhile the terminal neither shows nor keeps what is typed on it; see ``SilentTerminal``.
public final class KeyViewer {
  private let loop: EventLoop
  private let keyboards: Keyboards
  private let terminal: SilentTerminal?
  private let show: (TerminalText) throws(SystemError) -> Void
  private let notify: (TerminalText) -> Void
  private var signals: [EventSource] = []
  /// Wakes the viewer to show that a key is not released.
  private var timer: EventSource?
  private var lines: KeyLines
  private var deviceNames: [DeviceID: String] = [:]
  /// The long holds that the user was warned of.
  private var warnedHolds: Set<LongHold> = []
  /// Whether all keyboards that are present have been opened.
  private var hasStarted = false
  /// The error of the first keyboard that cannot be opened at the start.
  private var openingError: SystemError?
  /// Why the lines can no longer be shown.
  private var outputError: SystemError?

  /// A viewer that has no device open yet.
  ///
  /// - Parameters:
  ///   - show: receives each line.
  ///   - notify: receives messages: that the viewer begins, and which keyboards cannot be read.
  /// - Throws: `SystemError` if there can be no event loop.
  public init(
    _ selection: Keyboards.Selection, _ settings: Settings, on terminal: SilentTerminal?,
    show: @escaping (TerminalText) throws(SystemError) -> Void,
    notify: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    loop = try EventLoop()
    keyboards = Keyboards(selection)
    lines = KeyLines(settings: settings)
    (self.terminal, self.show, self.notify) = (terminal, show, notify)
  }

  /// Shows presses until a signal, or until nothing reads the lines any more.
  ///
  /// - Throws: ``NoKeyboard``; `SystemError` if no keyboard can be opened or a line cannot be
  ///   shown.
  public func run() throws {
    signals = try loop.stopAtSignals(leaving: terminal)
    timer = try loop.addTimer { [unowned self] in read() }
    terminal?.enter()
    defer { terminal?.leave() }
    try keyboards.start(on: loop) { [unowned self] in read() }
    hasStarted = true
    guard keyboards.devices.count > 0 else { throw openingError ?? NoKeyboard() }
    let count = keyboards.devices.count
    notify("reading \(count == 1 ? "1 device" : "\(count) devices"); Ctrl+C ends it")
    if outputError == nil { try loop.run() }
    if let outputError, outputError.code != EPIPE { throw outputError }
  }

  private func read() {
    var batch = Batch()
    keyboards.read(into: &batch)
    let reports = keyboards.takeReports()
    for case .followed(let id, let device) in reports { deviceNames[id] = device.name }
    for line in lines.handle(batch, keysUp: { keyboards.keysUp(among: $0, on: $1) }) {
      show(line)
      for hold in keyboards.longHolds where warnedHolds.insert(hold).inserted {
        notify(Self.warning(of: hold))
      }
    }
    if let time = lines.wakeTime {
      timer?.set(at: UInt64(clamping: Keyboards.bootTime(reaching: time)))
    }
    for report in reports { handle(report) }
  }

  /// The warning of a key that may be stuck.
  public static func warning(of hold: LongHold) -> TerminalText {
    "'\(hold.device)' has held \(hold.kind) for more than a minute; it may be stuck"
  }

  private func show(_ line: KeyLine) {
    guard outputError == nil else { return }
    do throws(SystemError) {
      try show(text(of: line))
    } catch {
      outputError = error
      loop.stop()
    }
  }

  /// What happened to the key and, in a column of its own, the name of the device.
  private func text(of line: KeyLine) -> TerminalText {
    let padding = String(repeating: " ", count: max(0, 32 - line.text.count))
    return "\(line.text)\(padding)  \(deviceNames[line.device] ?? "")"
  }

  private func handle(_ report: Keyboards.Report) {
    switch report {
    case .followed: break
    case .gone(let id, let device), .released(let id, let device):
      deviceNames[id] = nil
      notify("'\(device.name)' is gone")
    case .failed(let error):
      if !hasStarted { openingError = openingError ?? error }
      // Without any device at the start, ``run()`` throws the first error instead.
      if hasStarted || keyboards.devices.count > 0 { notify("\(error)") }
    case .failedLEDs: break  // A viewer switches no LEDs.
    }
  }
}

/// The error that no keyboard was found.
public struct NoKeyboard: Error, Hashable, TerminalTextConvertible {
  /// Creates the error, which has no details.
  public init() {}

  /// The message for the user.
  public var text: TerminalText { "no keyboard was found" }
}
