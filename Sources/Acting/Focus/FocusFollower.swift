import Glibc
import KeyboardModes
import KeymodeClient
import KeymodeInterface
public import SystemCalls
import Systemd

/// Sends `tapTextField` and `tapBlankArea` while text fields of the desktop get and lose the focus;
/// ``FocusRules`` decides when.
public final class FocusFollower {
  /// Why ``follow(anySession:)`` ended.
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

  private let directory: String
  private let report: (TerminalText) -> Void
  private let run: Run<Never>
  private var loop: EventLoop { run.loop }
  private var accessibility: Accessibility?
  private var bus: AccessibilityBus?
  private var timer: EventSource?
  private var focus = FocusedObject()
  private var rules = FocusRules(at: .now)
  private var questions: [EventSource] = []
  private var isAbsenceTold = false
  private var isPermissionChecked = false
  private var isPermissionDenied = false

  /// Catches SIGTERM, SIGINT and SIGHUP, for the rest of the process's life.
  ///
  /// - Parameter report: called with what the user should know while it goes on.
  /// - Throws: `SystemError` if there is no session bus.
  public init(
    of directory: String, report: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    (self.directory, self.report) = (directory, report)
    run = try Run()
    timer = try loop.addTimer { [unowned self] in send(rules.advance(to: .now)) }
    accessibility = try Accessibility(on: loop) { [unowned self] in take($0) }
  }

  /// Follows the focus until an error, or until a signal ends it.
  ///
  /// - Throws: ``End``, ``ClientError`` if waiting for the daemon would not help, such as for lack of
  ///   permission, and `SystemError`.
  public func follow(anySession: Bool) throws -> Never {
    let signals = try loop.addSignals([SIGTERM, SIGINT, SIGHUP]) { [self] in end(End.signal($0)) }
    let states = try StatesFollower(directory, on: loop, anySession: anySession) {
      [self] occurrence in
      switch occurrence {
      case .success(let occurrence): take(occurrence)
      case .failure(let error): end(error)
      }
    }
    try run.untilEnd(keeping: signals, states)
  }

  /// Ends ``follow(anySession:)`` with this error. Leaves the accessibility bus switched off if it was so.
  private func end(_ error: any Error) {
    guard let accessibility else { return run.fail(error) }
    bus = nil
    accessibility.end { [self] in run.fail(error) }
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
  }

  /// Learns at the start, rather than with the first text field, that the user may not send events.
  private func checkPermission() {
    guard !isPermissionChecked else { return }
    isPermissionChecked = true
    ask(.statistics) { [self] answer in
      switch answer {
      case .success: break
      case .failure(.permissionDenied(let path, let whom)):
        if isPermissionDenied { end(ClientError.permissionDenied(path: path, whom: whom)) }
        // While the daemon starts, its socket may not belong to its group yet.
        isPermissionDenied = true
        run.perform {
          questions.append(
            try loop.call(after: .seconds(1)) { [self] in
              isPermissionChecked = false
              checkPermission()
            })
        }
      case .failure: isPermissionChecked = false
      }
    }
  }

  private func ask<Answer>(
    _ request: Request<Answer>, _ answered: @escaping (Result<Answer, ClientError>) -> Void
  ) {
    run.perform { questions.append(try loop.ask(request, of: directory, answered)) }
  }

  private func send(_ event: FocusRules.Event?) {
    if let deadline = rules.deadline {
      timer?.set(after: ContinuousClock.now.duration(to: deadline))
    } else {
      timer?.disable()
    }
    guard let event else { return }
    ask(.trigger(event.rawValue)) { [self] answer in
      send(rules.take(take(answer, to: event), to: event, at: .now))
    }
  }

  /// The answer to an event; `nil` if the daemon did not answer.
  private func take(
    _ answer: Result<TriggerMessage, ClientError>, to event: FocusRules.Event
  ) -> FocusRules.Answer? {
    switch answer {
    case .success(let message):
      return FocusRules.Answer(
        changed: message.changed, keyboard: FocusRules.Keyboard(message.state.modes))
    // The states tell that it is gone, and when it is back. While it starts, its socket may not
    // belong to its group yet.
    case .failure(.noDaemon), .failure(.noAnswer), .failure(.connectionLost), .failure(.cancelled),
      .failure(.permissionDenied):
      break
    case .failure(let error): report("\(event.rawValue): \(error)")
    }
    return nil
  }
}

extension FocusRules.Keyboard {
  fileprivate init(_ modes: Modes) { self.init(state: modes.keyboard, since: modes.keyboardSince) }
}
