internal import CLibsystemd
internal import Glibc
public import SystemCalls

/// What can be waited for on a descriptor; the kernel's `EPOLL*` bits.
public struct IOEvents: OptionSet, Hashable, Sendable {
  /// The kernel's bits.
  public let rawValue: UInt32

  /// The events whose bits are set in `rawValue`.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There is something to read, or to accept.
  public static let readable = IOEvents(rawValue: EPOLLIN.rawValue)
  /// There is room to write.
  public static let writable = IOEvents(rawValue: EPOLLOUT.rawValue)
  /// Both directions are closed. Always reported.
  public static let hangUp = IOEvents(rawValue: EPOLLHUP.rawValue)
  /// Something is wrong with the descriptor. Always reported.
  public static let failure = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// An sd-event loop: one thread that waits for whatever comes first.
///
/// A source ends when its ``EventSource`` is let go.
public final class EventLoop {
  let handle: OpaquePointer

  /// A new loop.
  public init() throws(SystemError) {
    var handle: OpaquePointer?
    try checked("make an event loop", sd_event_new(&handle))
    guard let handle else { throw SystemError("make an event loop", code: ENOMEM) }
    self.handle = handle
  }

  deinit { sd_event_unref(handle) }

  /// Runs until ``stop()``.
  public func run() throws(SystemError) {
    try checked("run the event loop", sd_event_loop(handle))
  }

  /// Handles what comes next of all that is ready, and waits for nothing.
  ///
  /// - Returns: whether there was anything.
  public func runOnce() throws(SystemError) -> Bool {
    try checked("run the event loop", sd_event_run(handle, 0)) > 0
  }

  /// Ends ``run()`` after the handler that calls this.
  public func stop() { sd_event_exit(handle, 0) }

  /// Lets the service manager know regularly that the loop turns, where it wants to know.
  public func reportToWatchdog() throws(SystemError) {
    try checked("set the watchdog", sd_event_set_watchdog(handle, 1))
  }

  /// Calls `handler` whenever one of `events` is there on `descriptor`.
  ///
  /// The descriptor stays the caller's and must outlive the source.
  public func addIO(
    _ descriptor: Int32, _ events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemError) -> EventSource {
    let source = EventSource(handler)
    try source.start("watch a descriptor") { slot, context in
      sd_event_add_io(
        handle, slot, descriptor, events.rawValue,
        { _, _, events, context in
          EventSource.called(context, IOEvents(rawValue: events))
        }, context)
    }
    return source
  }

  /// Calls `handler` when the process gets the signal, which is blocked for this purpose.
  public func addSignal(
    _ signal: Int32, handler: @escaping () -> Void
  ) throws(SystemError) -> EventSource {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, signal)
    sigprocmask(SIG_BLOCK, &signals, nil)
    let source = EventSource { _ in handler() }
    try source.start("wait for a signal") { slot, context in
      sd_event_add_signal(
        handle, slot, signal, { _, _, context in EventSource.called(context, []) }, context)
    }
    return source
  }

  /// A timer that is off until it is set.
  public func addTimer(handler: @escaping () -> Void) throws(SystemError) -> EventSource {
    let source = EventSource { _ in handler() }
    try source.start("make a timer") { slot, context in
      // An accuracy of 1 µs; 0 would stand for a quarter of a second.
      sd_event_add_time(
        handle, slot, CLOCK_BOOTTIME, UInt64.max, 1,
        { _, _, context in EventSource.called(context, []) }, context)
    }
    return source
  }

  /// A handler that is called once after each ``EventSource/callSoon()``, when all else that is
  /// ready now had its turn.
  public func addDeferred(handler: @escaping () -> Void) throws(SystemError) -> EventSource {
    let source = EventSource { _ in handler() }
    try source.start("defer work") { slot, context in
      sd_event_add_defer(handle, slot, { _, context in EventSource.called(context, []) }, context)
    }
    source.disable()
    return source
  }
}

/// Something that a loop waits for; letting go of it ends the waiting.
public final class EventSource {
  private let handler: (IOEvents) -> Void
  private var handle: OpaquePointer?

  fileprivate init(_ handler: @escaping (IOEvents) -> Void) { self.handler = handler }

  deinit { end() }

  /// Ends the waiting at once: to be called before the descriptor is closed, if somebody else may
  /// still hold the source.
  public func end() { handle = sd_event_source_disable_unref(handle) }

  fileprivate func start(
    _ operation: String,
    _ add: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutableRawPointer) -> Int32
  ) throws(SystemError) {
    // Unretained: the loop's reference ends in `deinit`, so the object outlives every call.
    try checked(operation, add(&handle, Unmanaged.passUnretained(self).toOpaque()))
  }

  fileprivate static func called(
    _ context: UnsafeMutableRawPointer?, _ events: IOEvents
  ) -> Int32 {
    guard let context else { return 0 }
    // A strong reference for as long as the handler runs, since it may let go of its own source.
    let source = Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue()
    source.handler(events)
    return 0
  }

  /// Waits for other events on the descriptor from now on.
  public func wait(for events: IOEvents) {
    sd_event_source_set_io_events(handle, events.rawValue)
  }

  /// When a source has its turn, of those that are ready.
  public enum Turn: Int64, Sendable {
    /// Before all others.
    case first = -100
    /// Before the usual ones.
    case early = -50
    /// Whoever waited longest; that of a source for which nothing else was said.
    case usual = 0
    /// After all others.
    case last = 100
  }

  /// Takes its turns like this from now on.
  public func take(_ turn: Turn) { sd_event_source_set_priority(handle, turn.rawValue) }

  /// Calls the timer's handler once, at `microseconds` of `CLOCK_BOOTTIME`.
  public func set(at microseconds: UInt64) {
    sd_event_source_set_time(handle, microseconds)
    sd_event_source_set_enabled(handle, Int32(SD_EVENT_ONESHOT))
  }

  /// Calls a deferred handler once.
  public func callSoon() {
    sd_event_source_set_enabled(handle, Int32(SD_EVENT_ONESHOT))
  }

  /// Stops waiting, until ``enable()`` or another setting.
  public func disable() { sd_event_source_set_enabled(handle, Int32(SD_EVENT_OFF)) }

  /// Waits again.
  public func enable() { sd_event_source_set_enabled(handle, Int32(SD_EVENT_ON)) }
}

/// Throws what systemd's functions return as a negative `errno`.
@discardableResult
func checked(
  _ operation: String, _ result: Int32
) throws(SystemError) -> Int32 {
  guard result < 0 else { return result }
  throw SystemError(operation, code: -result)
}

/// The time on `CLOCK_MONOTONIC`, on which systemd counts, in microseconds.
public func microsecondsSinceStart() -> Int64 { microseconds(CLOCK_MONOTONIC) }

/// The time on `CLOCK_BOOTTIME`, which goes on while the machine sleeps, in microseconds.
public func microsecondsSinceBoot() -> Int64 { microseconds(CLOCK_BOOTTIME) }

private func microseconds(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}
