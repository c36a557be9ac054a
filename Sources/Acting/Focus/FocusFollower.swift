import Glibc
import KeyboardModes
public import KeymodeClient
import KeymodeInterface
public import SystemCalls
public import Systemd

/// Sends `tapTextField` and `tapBlankArea` while text fields of the desktop get and lose the focus;
/// ``FocusRules`` decides when.
@MainActor
public final class FocusFollower {
  /// Why ``run()`` ended.
  public enum End: Error, Hashable, TerminalTextConvertible {
    /// The process received this signal.
    case signal(Int32)
    /// The session bus is gone, and the session with it.
    case sessionLost
    /// Another process of this session follows the focus already.
    case isFollowed

    /// The message for the user.
    public var text: TerminalText {
      switch self {
      case .signal(let number): "ended by signal \(number)"
      case .sessionLost: "the session bus is gone"
      case .isFollowed: "keymodectl focus runs in this session already"
      }
    }
  }

  private let client: Client
  private let report: (TerminalText) -> Void
  private let signals: Signals
  private let loop: EventLoop
  private var accessibility: Accessibility?
  private var bus: AccessibilityBus?
  private var sources: [EventSource] = []
  private var timer: EventSource?
  private var focus = FocusedObject()
  private var rules = FocusRules(at: .now)
  private let session: AsyncStream<SessionPresence>?
  private var isAbsenceTold = false
  private var isPermissionChecked = false
  private var isPermissionDenied = false
  private let (ends, ending) = AsyncThrowingStream.makeStream(of: Never.self)

  /// Catches SIGTERM, SIGINT and SIGHUP, for the rest of the process's life.
  ///
  /// - Parameters:
  ///   - session: see ``StatesFollower/init(_:session:)``.
  ///   - report: called with what the user should know while it goes on.
  /// - Throws: `SystemError` if there is no session bus.
  public init(
    _ client: Client, session: AsyncStream<SessionPresence>?,
    report: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    (self.client, self.session, self.report) = (client, session, report)
    signals = try Signals([SIGTERM, SIGINT, SIGHUP])
    loop = try EventLoop()
    timer = try loop.addTimer { [unowned self] in send(rules.advance(to: .now)) }
    let caught = signals.descriptor
    sources = [
      try loop.addIO(caught, .readable) { [unowned self] _ in
        while let number = signals.next() { end(End.signal(number)) }
      }
    ]
    accessibility = try Accessibility(on: loop) { [unowned self] in take($0) }
  }

  /// Follows the focus until an error, or until a signal ends it.
  ///
  /// - Throws: ``End``, ``ClientError`` if waiting for the daemon would not help, such as for lack of
  ///   permission, and `SystemError`.
  public func run() async throws {
    let states = StatesFollower(client, session: session)
    let tasks = [
      Task { await serve() },
      Task {
        do { try await states.run { self.take($0) } } catch { end(error) }
      },
    ]
    defer { for task in tasks { task.cancel() } }
    do {
      for try await _ in ends {}
    } catch {
      await switchOff()
      throw error
    }
  }

  // MARK: - The loop and the end

  private func serve() async {
    do throws(SystemError) {
      try await loop.serve()
    } catch {
      // Without the loop, nothing could wait for the switch.
      accessibility = nil
      end(error)
    }
  }

  /// Ends ``run()`` with this error.
  private func end(_ error: any Error) { ending.finish(throwing: error) }

  /// Leaves the accessibility bus switched off if it was so.
  private func switchOff() async {
    guard let accessibility else { return }
    bus = nil
    await withCheckedContinuation { continuation in
      accessibility.end { continuation.resume() }
      armLoop()
    }
  }

  // MARK: - The desktop

  private func take(_ event: Accessibility.Event) {
    switch event {
    case .bus(let address): connect(address)
    case .none:
      bus = nil
      take(.busLost)
      report("the session has no accessibility bus (org.a11y.Bus); it comes with at-spi2-core")
    case .sessionLost: end(End.sessionLost)
    case .isFollowed: end(End.isFollowed)
    }
  }

  private func connect(_ address: String) {
    bus = nil
    take(.busLost)
    do throws(SystemError) {
      bus = try AccessibilityBus(
        address, on: loop, told: { [unowned self] in take($0) },
        lost: { [unowned self] in
          bus = nil
          take(.busLost)
          accessibility?.busLost()
        })
    } catch {
      accessibility?.busLost()
    }
  }

  /// Takes what a program tells.
  private func take(_ event: FocusedObject.Event) {
    if event != .busLost { accessibility?.busWorks() }
    let before = focus
    focus.take(event)
    guard focus != before else { return }
    bus?.follow(focus)
    guard focus.state != before.state else { return }
    if focus.state.textField != nil {
      send(rules.gain(at: .now))
    } else {
      send(rules.lose(at: .now))
    }
  }

  // MARK: - The daemon

  private func take(_ occurrence: Occurrence) {
    switch occurrence {
    // States that count as left count here: no key typed elsewhere starts anything, but the user's own
    // text field does.
    case .states(let states, change: _):
      isAbsenceTold = true
      checkPermission()
      send(rules.take(FocusRules.Keyboard(states.modes), at: .now))
    case .unknown(let reason):
      if case .noDaemon(let error) = reason, !isAbsenceTold {
        isAbsenceTold = true
        report("\(error)\nwaiting for it")
      }
      send(rules.take(nil, at: .now))
    }
    armLoop()
  }

  /// Learns at the start, rather than with the first text field, that the user may not send events.
  private func checkPermission() {
    guard !isPermissionChecked else { return }
    isPermissionChecked = true
    Task {
      do throws(ClientError) {
        _ = try await client.statistics()
      } catch .permissionDenied(let path, let whom) {
        if isPermissionDenied { end(ClientError.permissionDenied(path: path, whom: whom)) }
        // While the daemon starts, its socket may not belong to its group yet.
        isPermissionDenied = true
        let later = ContinuousClock.now.advanced(by: RetryDelays.granting)
        _ = try? await Poller.shared.wait(toRead: -1, until: later)
        isPermissionChecked = false
        checkPermission()
      } catch {
        isPermissionChecked = false
      }
    }
  }

  private func send(_ event: FocusRules.Event?) {
    if let deadline = rules.deadline {
      timer?.set(after: ContinuousClock.now.duration(to: deadline))
    } else {
      timer?.disable()
    }
    guard let event else { return }
    Task {
      let answer = await answer(to: event)
      send(rules.take(answer, to: event, at: .now))
      armLoop()
    }
  }

  /// Sends an event, and returns the answer; `nil` if the daemon did not answer.
  private func answer(to event: FocusRules.Event) async -> FocusRules.Answer? {
    do throws(ClientError) {
      let message = try await client.trigger(event.rawValue)
      return FocusRules.Answer(
        changed: message.changed, keyboard: FocusRules.Keyboard(message.state.modes))
    } catch {
      switch error {
      // The states tell that it is gone, and when it is back. While it starts, its socket may not
      // belong to its group yet.
      case .noDaemon, .noAnswer, .connectionLost, .cancelled, .permissionDenied: break
      case .refused, .badReply, .failed: report("\(event.rawValue): \(error)")
      }
      return nil
    }
  }

  /// Lets the loop know of what was done outside of it, such as a timer that was set.
  private func armLoop() {
    do throws(SystemError) { try loop.dispatchAll() } catch { end(error) }
  }
}

extension FocusRules.Keyboard {
  fileprivate init(_ modes: Modes) { self.init(state: modes.keyboard, since: modes.keyboardSince) }
}
