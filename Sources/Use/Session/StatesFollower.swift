public import KeyboardModes
import KeymodeClient
public import System
import Terminal

/// Follows the daemon's states for programs that act on them. While the user's session is not in
/// front, all states count as left.
public final class StatesFollower {
  private let directory: String
  private let machines: Set<MachineName>?
  private let loop: EventLoop
  private let mayWait: Bool
  private let notify: (Result<StatesUpdate, any Error>) -> Void
  /// The subscription, or the timer of the next one.
  private var daemonSource: EventSource?
  private var session: LoginSession?
  /// What the daemon and the session have reported.
  private var knownStates: KnownStates
  /// The conditions to check against the daemon's machines; `nil` once that is done.
  private var uncheckedConditions: StateConditions?
  /// The question to the daemon about its machines.
  private var question: EventSource?
  /// The daemon's updates since the question.
  private var updatesSinceQuestion: [Update] = []

  /// The name of the session, as in ``LoginSession/name``; `-` if sessions are not looked at.
  public var sessionName: String { session?.name ?? "-" }

  /// Whether logind says that Xorg shows the session.
  var isOnXorg: Bool { session?.isOnXorg == true }

  /// Whether a sleep of the computer must wait: see ``LoginSession/delaysSleep``.
  var delaysSleep = false { didSet { session?.delaysSleep = delaysSleep } }

  /// Follows the states of the daemon that serves in `directory`.
  ///
  /// The first update comes at once or, if the daemon does not answer, within five seconds.
  /// Without a daemon, or without permission to read, this waits if `mayWait` allows it.
  ///
  /// - Parameters:
  ///   - machines: the machines whose changes are reported, at least one; `nil` for all. The states
  ///     of other machines may be out of date.
  ///   - conditions: checked against the daemon's machines before any state is reported.
  ///   - anySession: whether states count even if the session is not in front.
  ///   - followsSleep: whether states also count as left while the computer goes to sleep and wakes
  ///     up, in any session.
  ///   - choice: which session to look at.
  ///   - mayWait: whether to wait if there is no daemon or no permission, at the start or later. If
  ///     not, `notify` gets the error.
  ///   - notify: called from the loop with each update, in order, and with an error if this may not
  ///     wait, or waiting would not help: after an invalid reply, or if the daemon lacks a state.
  public init(
    _ directory: String, of machines: Set<MachineName>? = nil,
    checking conditions: StateConditions? = nil, on loop: EventLoop, anySession: Bool,
    followsSleep: Bool = false, session choice: LoginSession.Choice = .own, mayWait: Bool = true,
    notify: @escaping (Result<StatesUpdate, any Error>) -> Void
  ) throws {
    (self.directory, self.machines, self.loop) = (directory, machines, loop)
    (self.mayWait, self.notify) = (mayWait, notify)
    knownStates = KnownStates(presence: anySession ? .inFront : nil)
    uncheckedConditions = conditions?.needDaemonCheck == true ? conditions : nil
    // Unowned, as below: this object owns the sources, which end with it.
    if !anySession || followsSleep {
      session = try LoginSession(choice, followsSleep: followsSleep, on: loop) { [unowned self] in
        let counts = !anySession || $0 == .absent(.asleep)
        deliver(knownStates.handle(counts ? $0 : .inFront))
      }
    }
    try follow()
  }

  private func follow() throws {
    daemonSource = try loop.follow(directory, of: machines) { [unowned self] update in
      attempt { try handle(update.get()) }
    }
    // The session's presence is handled before an update of the same time.
    daemonSource?.setPriority(.last)
  }

  private func handle(_ update: Update) throws {
    if case .disconnected(let error) = update {
      (question, updatesSinceQuestion) = (nil, [])
      // Thrown here: while the session is not in front, `knownStates` would not report it.
      if !mayWait { throw error }
    } else if let uncheckedConditions {
      updatesSinceQuestion.append(update)
      if question == nil { try check(uncheckedConditions) }
      return
    }
    deliver(knownStates.handle(update))
  }

  /// Asks the daemon for its machines, and checks the conditions. If the daemon does not answer,
  /// reports that there is no daemon, and subscribes again after a second.
  private func check(_ conditions: StateConditions) throws {
    question = try loop.ask(.machines, of: directory) { [unowned self] answer in
      attempt {
        switch answer {
        case .success(let machines):
          for machine in try conditions.check(machines) {
            printToStandardError(
              "keymoded has no machine '\(machine)'; waiting for a configuration that has it")
          }
          (uncheckedConditions, question) = (nil, nil)
          for update in updatesSinceQuestion { try handle(update) }
          updatesSinceQuestion = []
        case .failure(let error):
          daemonSource = try loop.call(after: .seconds(1)) { [unowned self] in attempt(follow) }
          try handle(.disconnected(error))
        }
      }
    }
  }

  private func deliver(_ update: StatesUpdate?) {
    if let update { notify(.success(update)) }
  }

  private func attempt(_ body: () throws -> Void) {
    do { try body() } catch { notify(.failure(error)) }
  }
}
