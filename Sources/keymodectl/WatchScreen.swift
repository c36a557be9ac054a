import Glibc
import KeymodeClient
import SystemCalls
import Watching

/// The live view on a terminal. It draws when the view changes, and sleeps in between.
actor WatchScreen {
  private let terminal: Terminal
  private let isColored: Bool
  private var view: WatchView
  private var shown: [TerminalText] = []
  /// Draws again when a shown duration changes.
  private var clock: Task<Void, Never>?

  private init(_ terminal: sending Terminal, directory: String) {
    self.terminal = terminal
    isColored = environment("NO_COLOR") == nil
    view = WatchView(directory: directory)
  }

  /// Shows the live view until the user ends it.
  ///
  /// - Throws: `ClientError` if there is no daemon at the start.
  static func run(_ client: Client, _ terminal: sending Terminal) async throws -> Int32 {
    let signals = try Signals([SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP])
    let input = terminal.input
    let screen = WatchScreen(terminal, directory: client.directory)
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await screen.follow(client) }
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
    clock?.cancel()
    terminal.leave()
  }

  private func follow(_ client: Client) async throws {
    var isFirst = true
    for try await update in client.changes {
      // Without a first view, an error message says more than an empty screen.
      if isFirst, case .disconnected(let reason) = update { throw reason }
      if isFirst { terminal.enter() }
      isFirst = false
      view.take(update, at: WatchScreen.now)
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
          if !view.states.isEmpty { terminal.enter() }
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
    guard !view.states.isEmpty else { return }
    let now = WatchScreen.now
    let size = terminal.size
    let lines = view.lines(columns: size.columns, rows: size.rows, isColored: isColored, at: now)
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

  private static var now: WatchView.Moment {
    WatchView.Moment(boot: microsecondsSinceBoot(), day: Int64(time(nil)))
  }
}
