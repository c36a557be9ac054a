import CommandLineTools
import Glibc
import KeymodeClient
import SystemCalls
import Watching

/// The live view on a terminal. It draws when the view changes, and sleeps in between.
actor WatchScreen {
  private let terminal: Terminal
  private let isColored: Bool
  private let request: WatchRequest
  private var view: WatchView
  /// What the keys do, for the last line.
  private let keys: String
  /// Whether the terminal is the view's; before that, an error message says more than an empty screen.
  private var isOpen = false
  private var shown: [TerminalText] = []
  /// Draws again when a shown duration changes.
  private var clock: Task<Void, Never>?

  private init(_ terminal: sending Terminal, _ request: WatchRequest) {
    keys = terminal.input == nil ? "Ctrl+C quits" : "q quits, Ctrl+Z stops, fg continues"
    self.terminal = terminal
    self.request = request
    isColored = environment("NO_COLOR") == nil
    let directory = request.client.directory
    let advice = advice(directory).description.split(separator: "\n").map {
      "\($0)" as TerminalText
    }
    view = WatchView(directory: directory, machines: request.machines, advice: advice)
  }

  /// Shows the live view until the user ends it.
  ///
  /// - Throws: `ClientError` if waiting for the daemon is no help, or not allowed.
  static func run(_ request: WatchRequest, _ terminal: sending Terminal) async throws -> Int32 {
    let signals = try Signals([SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP])
    let input = terminal.input
    let screen = WatchScreen(terminal, request)
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await screen.follow() }
        tasks.addTask { try await screen.obey(signals) }
        if let input { tasks.addTask { try await untilQuit(input) } }
        try await tasks.next()
        tasks.cancelAll()
      }
      await screen.end()
      return 0
    } catch {
      await screen.end()
      throw error
    }
  }

  private func end() {
    // A tick of the clock that is on its way must not draw over what the terminal showed before.
    isOpen = false
    clock?.cancel()
    terminal.leave()
  }

  private func follow() async throws {
    for try await update in request.client.changes {
      if case .disconnected(let reason) = update {
        guard isOpen ? request.mayWait : request.waits(after: reason) else { throw reason }
      }
      if !isOpen { terminal.enter() }
      isOpen = true
      view.take(update, at: .now)
      draw()
    }
  }

  private func obey(_ signals: Signals) async throws {
    while try await Poller.shared.wait(toRead: signals.descriptor) == .ready {
      while let signal = signals.next() {
        switch signal {
        case SIGWINCH: redraw()
        case SIGTSTP:
          terminal.leave()
          // `raise` sends it to this thread, which stops at once.
          raise(SIGSTOP)
          if isOpen { terminal.enter() }
          redraw()
        default:
          terminal.leave()
          Signals.deliver(signal)
        }
      }
    }
  }

  /// Returns when the user types `q` or closes the input.
  private static func untilQuit(_ input: Int32) async throws {
    while try await Poller.shared.wait(toRead: input) == .ready {
      var typed: UInt8 = 0
      if read(input, &typed, 1) != 1 || typed == UInt8(ascii: "q") { return }
    }
  }

  /// Draws all lines, because the screen's content is unknown.
  private func redraw() {
    shown = []
    draw()
  }

  private func draw() {
    guard isOpen else { return }
    let now = Moment.now
    let size = terminal.size
    let lines = view.lines(
      columns: size.columns, rows: size.rows, isColored: isColored, keys: keys, at: now)
    if lines != shown { terminal.show(lines) }
    shown = lines
    clock?.cancel()
    clock = view.timeToNext(at: now).map { left in
      let next = ContinuousClock.now.advanced(by: .microseconds(left))
      return Task { [weak self] in
        guard (try? await Poller.shared.wait(toRead: -1, until: next)) == .timedOut else { return }
        await self?.draw()
      }
    }
  }
}
