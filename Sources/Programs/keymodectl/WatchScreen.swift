import Glibc
import KeymodeClient
import Session
import System
import Terminal

/// The live view on a terminal. It draws when the view changes, and sleeps in between.
final class WatchScreen {
  private let terminal: Terminal
  private let isColored = environment("NO_COLOR") == nil
  private let request: WatchRequest
  private let mainLoop: MainLoop<Int32>
  private var view: WatchView
  /// Whether the view has entered the terminal. It does so at the first update, so that an earlier
  /// error is shown as a message, not behind an empty screen.
  private var isOpen = false
  private var shownLines: [TerminalText] = []
  /// Goes off when a shown duration changes.
  private var redrawTimer: EventSource?

  init(_ terminal: Terminal, _ request: WatchRequest) throws(SystemError) {
    (self.terminal, self.request) = (terminal, request)
    mainLoop = try MainLoop()
    view = WatchView(
      directory: request.directory, machine: request.machine,
      advice: startAdvice(for: request.directory))
  }

  /// Shows the live view until the user ends it.
  ///
  /// - Throws: `ClientError` if waiting for the daemon does not help, or is not allowed.
  func show() throws -> Int32 {
    let loop = mainLoop.loop
    let signals = try loop.addSignals([SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]) {
      [self] in handleSignal($0)
    }
    let typed = try terminal.input.map { input in
      try loop.addIO(input, .readable) { [self] _ in readKey(from: input) }
    }
    redrawTimer = try loop.addTimer { [self] in draw() }
    let daemon = try loop.follow(request.directory, of: request.machines) { [self] update in
      mainLoop.perform { try handle(update.get()) }
    }
    defer { terminal.leave() }
    return try mainLoop.runUntilEnd(keeping: signals, typed, daemon)
  }

  private func handle(_ update: Update) throws {
    if case .disconnected(let reason) = update {
      guard isOpen ? request.mayWait : request.waits(after: reason) else { throw reason }
      if case .permissionDenied = reason {
        // The view says how to start a daemon, but not how to get the permission.
        if isOpen { terminal.leave() }
        (isOpen, shownLines) = (false, [])
        return reportWaiting(after: reason)
      }
    }
    if !isOpen { terminal.enter() }
    isOpen = true
    view.handle(update, at: .now)
    draw()
  }

  private func handleSignal(_ signal: Int32) {
    switch signal {
    case SIGWINCH: redraw()
    case SIGTSTP:
      terminal.leave()
      raise(SIGSTOP)
      if isOpen { terminal.enter() }
      redraw()
    default:
      terminal.leave()
      Signals.applyDefaultAction(of: signal)
    }
  }

  /// Ends when the user types `q` or closes the input.
  private func readKey(from input: Int32) {
    var typed: UInt8 = 0
    if read(input, &typed, 1) != 1 || typed == UInt8(ascii: "q") { mainLoop.end(ExitStatus.done) }
  }

  /// Draws all lines, because the screen's content is unknown.
  private func redraw() {
    shownLines = []
    draw()
  }

  private func draw() {
    guard isOpen else { return }
    let now = Moment.now
    let size = Terminal.size
    let keys = terminal.input == nil ? "Ctrl+C quits" : "q quits, Ctrl+Z stops, fg continues"
    let lines = view.lines(
      columns: size.columns, rows: size.rows, isColored: isColored, keys: keys, at: now)
    if lines != shownLines { terminal.show(lines) }
    shownLines = lines
    if let left = view.timeToRedraw(at: now) {
      redrawTimer?.set(after: .microseconds(left))
    } else {
      redrawTimer?.disable()
    }
  }
}
