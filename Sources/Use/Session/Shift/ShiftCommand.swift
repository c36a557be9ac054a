import Glibc
public import KeymodeClient
public import System
public import Terminal
import Wire

/// A virtual keyboard that types Shift and Caps Lock by the states of Shift: `keymodectl shift`.
///
/// ``ShiftTyping`` decides; this follows the states and the session in front on `seat0`, keeps
/// time, and remembers in which sessions it turned Caps Lock on.
public final class ShiftCommand {
  /// How long this program may wait, at its end, for the LED that answers a tap.
  private static let endTimeout = Duration.seconds(2)

  private let directory: String
  private let keyboard: VirtualKeyboard
  private let report: (TerminalText) -> Void
  private let isOneShot: Bool

  private let mainLoop: MainLoop<Int32>
  private var typing: ShiftTyping
  private let memory: CapsLockMemory
  private var remembered: Set<String>
  private var follower: StatesFollower?
  private var liveness: Liveness?
  private var timer: EventSource?
  private var question: EventSource?
  private var shown: TerminalText?
  /// The signal that ends this program, and the timer that does so at the latest.
  private var ending: (signal: Int32, limit: EventSource)?

  /// - Parameters:
  ///   - maxHold: how long `on` holds Shift down at most; `nil` if `on` does not press Shift.
  ///   - memory: keeps the sessions whose Caps Lock is ours for the next process.
  ///   - report: receives the messages for the user.
  public init(
    on keyboard: VirtualKeyboard, hasCapsLock: Bool, oneShot maxHold: Duration?,
    of directory: String, memory: CapsLockMemory, report: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    mainLoop = try MainLoop()
    (self.directory, self.memory, isOneShot) = (directory, memory, maxHold != nil)
    (self.keyboard, self.report) = (keyboard, report)
    remembered = try memory.read()
    typing = ShiftTyping(hasCapsLock: hasCapsLock, oneShot: maxHold, ours: remembered)
  }

  /// Types what the states say until a signal comes. Then undoes it, as if the states were left.
  ///
  /// - Parameters:
  ///   - anySession: whether to act in whatever session is in front, even a locked one.
  ///   - explain: says why there is no daemon, and what the user can do.
  /// - Returns: the signal.
  /// - Throws: ``ClientError`` if waiting for the daemon would not help, `UsageError` if Shift is
  ///   one-shot, but the daemon's `shift.trigger` is not `tap`, and `SystemError`.
  public func serve(
    anySession: Bool, explain: @escaping (ClientError) -> TerminalText
  ) throws -> Int32 {
    let signals = try mainLoop.loop.addSignals([SIGHUP, SIGINT, SIGQUIT, SIGTERM]) { [self] in
      end($0)
    }
    timer = try mainLoop.loop.addTimer { [self] in act { typing.passTime(to: $0) } }
    liveness = try Liveness(of: directory, on: mainLoop.loop) { [self] error in
      // Reports only a daemon that hangs: the follower reports a missing daemon.
      if case .noAnswer = error { report("\(error);\nits states count as left") }
      act { typing.loseDaemon(at: $0) }
    }
    follower = try StatesFollower(
      directory, of: [.shift, .caps], on: mainLoop.loop, anySession: anySession,
      session: .activeOfSeat
    ) { [self] update in
      switch update {
      case .success(let update): handle(update, explain)
      case .failure(let error): mainLoop.fail(error)
      }
    }
    ServiceManager.notify("READY=1")
    defer { (timer, liveness, follower) = (nil, nil, nil) }
    return try mainLoop.runUntilEnd(keeping: signals)
  }

  private func handle(_ update: StatesUpdate, _ explain: (ClientError) -> TerminalText) {
    switch update {
    case .states(_, let change):
      // Since the last `on`, the daemon or its configuration may have been replaced.
      if isOneShot, change == nil || change?.to == "on" { checkTrigger() }
      show("")
    case .unknown(let reason):
      if case .noDaemon(let error) = reason { report("\(explain(error));\nwaiting for it") }
      show(reason.text)
    }
    let isOnXorg = follower?.isOnXorg == true
    act { typing.handle(update, in: follower?.sessionName ?? "-", isOnXorg: isOnXorg, at: $0) }
  }

  /// Shows in the status of the service why nothing is typed; shows nothing if `reason` is empty.
  private func show(_ reason: TerminalText) {
    if reason != shown { ServiceManager.showStatus(reason.description) }
    shown = reason
  }

  /// Refuses to hold Shift unless the daemon waits for taps: with another trigger `on` begins while
  /// the person still holds Shift, as for a shortcut.
  private func checkTrigger() {
    mainLoop.perform {
      question = try mainLoop.loop.ask(.state, of: directory) { [self] answer in
        // Without an answer the daemon has gone, and is asked when it is back.
        guard case .success(let message) = answer, message.shiftTrigger != .tap else { return }
        mainLoop.fail(
          UsageError(
            "--one-shot needs 'shift: { trigger: tap }' in the daemon's configuration, "
              + "which has '\(message.shiftTrigger.rawValue)'"))
      }
    }
  }

  private func end(_ signal: Int32) {
    guard ending == nil else { return mainLoop.end(signal) }
    mainLoop.perform {
      let limit = try mainLoop.loop.call(after: Self.endTimeout) { [self] in mainLoop.end(signal) }
      ending = (signal, limit)
    }
    act { typing.end(at: $0) }
  }

  /// Performs the actions of the rules. A Caps Lock that will be ours is remembered first, so that
  /// it is not forgotten if this process is killed in between.
  private func act(_ decide: (Int64) -> [ShiftTyping.Action]) {
    mainLoop.perform {
      let actions = decide(microsecondsSinceBoot())
      if typing.ours != remembered {
        remembered = typing.ours
        try memory.write(remembered)
      }
      if typing.needsDaemon { liveness?.begin() }
      for action in actions { try perform(action) }
      if !typing.needsDaemon { liveness?.end() }
      if let deadline = typing.deadline {
        timer?.set(at: UInt64(clamping: deadline))
      } else {
        timer?.disable()
      }
      if let ending, !typing.isActive { mainLoop.end(ending.signal) }
    }
  }

  private func perform(_ action: ShiftTyping.Action) throws(SystemError) {
    switch action {
    case .press: try keyboard.setShift(isDown: true)
    case .release: try keyboard.setShift(isDown: false)
    case .tapCapsLock: try keyboard.tapCapsLock()
    case .giveUpCapsLock:
      report(
        "Caps Lock does not answer its key: this keyboard layout has none there; "
          + "it is left alone until the next start")
    }
  }
}
