import CLibsystemd
import Glibc
public import SystemCalls

/// Events to wait for on a descriptor; the kernel's `EPOLL*` bits.
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

/// An sd-event loop: waits on one thread for the events of all its sources.
///
/// The loop removes a source when its ``EventSource`` is released. Methods throw the error of the
/// `sd_event_*` function that they call.
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
  public func run() throws(SystemError) { try checked("run the event loop", sd_event_loop(handle)) }

  /// Runs the handler of one ready source, without waiting, and returns whether there was one.
  public func runOnce() throws(SystemError) -> Bool {
    try checked("run the event loop", sd_event_run(handle, 0)) > 0
  }

  /// Readable when a source is ready. Wait for this descriptor, then call ``dispatchAll()``, where
  /// something else than ``run()`` waits; call it once before the first wait, too, because it arms
  /// the sources.
  public var descriptor: Int32 { sd_event_get_fd(handle) }

  /// Runs the handlers of all ready sources, without waiting.
  public func dispatchAll() throws(SystemError) { while try runOnce() {} }

  /// Ends ``run()`` after the handler that calls this.
  public func stop() { sd_event_exit(handle, 0) }

  /// Sends watchdog notifications to the service manager from the loop, if it asked for them.
  public func reportToWatchdog() throws(SystemError) {
    try checked("set the watchdog", sd_event_set_watchdog(handle, 1))
  }

  /// Calls `handler` whenever one of `events` occurs on `descriptor`, which must outlive the source.
  public func addIO(
    _ descriptor: Int32, _ events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemError) -> EventSource {
    try EventSource("watch a descriptor", handler) { slot, context in
      sd_event_add_io(
        handle, slot, descriptor, events.rawValue,
        { _, _, events, context in EventSource.called(context, IOEvents(rawValue: events)) },
        context)
    }
  }

  /// Blocks `signal`, and calls `handler` when the process receives it.
  public func addSignal(
    _ signal: Int32, handler: @escaping () -> Void
  ) throws(SystemError) -> EventSource {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, signal)
    sigprocmask(SIG_BLOCK, &signals, nil)
    return try EventSource("wait for a signal", { _ in handler() }) { slot, context in
      sd_event_add_signal(
        handle, slot, signal, { _, _, context in EventSource.called(context, []) }, context)
    }
  }

  /// A timer that is off until ``EventSource/set(at:)``.
  public func addTimer(handler: @escaping () -> Void) throws(SystemError) -> EventSource {
    try EventSource("make a timer", { _ in handler() }) { slot, context in
      // An accuracy of 1 µs; 0 would mean the default, 250 ms.
      sd_event_add_time(
        handle, slot, CLOCK_BOOTTIME, UInt64.max, 1,
        { _, _, context in EventSource.called(context, []) }, context)
    }
  }

  /// A handler that a later iteration of the loop runs once after each ``EventSource/callSoon()``.
  public func addDeferred(handler: @escaping () -> Void) throws(SystemError) -> EventSource {
    let source = try EventSource("defer work", { _ in handler() }) { slot, context in
      sd_event_add_defer(handle, slot, { _, context in EventSource.called(context, []) }, context)
    }
    source.disable()
    return source
  }
}

/// A source of events in a loop; releasing it removes it from the loop.
public final class EventSource {
  private let handler: (IOEvents) -> Void
  private var handle: OpaquePointer?

  fileprivate init(
    _ operation: String, _ handler: @escaping (IOEvents) -> Void,
    add: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutableRawPointer) -> Int32
  ) throws(SystemError) {
    self.handler = handler
    // Unretained: `deinit` removes the source from the loop, so the object outlives every call.
    try checked(operation, add(&handle, Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit { end() }

  /// Removes the source from the loop at once. Call this before closing the descriptor if another
  /// reference to the source may remain.
  public func end() { handle = sd_event_source_disable_unref(handle) }

  fileprivate static func called(_ context: UnsafeMutableRawPointer?, _ events: IOEvents) -> Int32 {
    guard let context else { return 0 }
    // A strong reference while the handler runs, since it may release its own source.
    let source = Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue()
    source.handler(events)
    return 0
  }

  /// Changes the events to wait for on the descriptor.
  public func wait(for events: IOEvents) { sd_event_source_set_io_events(handle, events.rawValue) }

  /// A source's priority: of those that are ready, the one with the lowest value is served first.
  public enum Priority: Int64, Sendable {
    /// Served before all others.
    case first = -100
    /// Served before sources of usual priority.
    case early = -50
    /// The default; the source that has been ready longest is served first.
    case usual = 0
    /// Served after all others.
    case last = 100
  }

  /// Sets the priority of the source.
  public func setPriority(_ priority: Priority) {
    sd_event_source_set_priority(handle, priority.rawValue)
  }

  /// Calls the timer's handler once, at `microseconds` of `CLOCK_BOOTTIME`.
  public func set(at microseconds: UInt64) {
    sd_event_source_set_time(handle, microseconds)
    sd_event_source_set_enabled(handle, Int32(SD_EVENT_ONESHOT))
  }

  /// Calls the timer's handler once, after this time; never earlier, which would cost another wakeup.
  public func set(after delay: Duration) {
    set(at: UInt64(clamping: microsecondsSinceBoot() + max(.zero, delay).wholeMicroseconds + 1))
  }

  /// Schedules the deferred handler to be called once.
  public func callSoon() { sd_event_source_set_enabled(handle, Int32(SD_EVENT_ONESHOT)) }

  /// Stops waiting, until ``enable()``, ``set(at:)`` or ``callSoon()``.
  public func disable() { sd_event_source_set_enabled(handle, Int32(SD_EVENT_OFF)) }

  /// Waits again.
  public func enable() { sd_event_source_set_enabled(handle, Int32(SD_EVENT_ON)) }
}

/// Throws if a function of libsystemd returned a negative `errno`; otherwise returns its result.
@discardableResult
func checked(_ operation: String, _ result: Int32) throws(SystemError) -> Int32 {
  guard result < 0 else { return result }
  throw SystemError(operation, code: -result)
}
