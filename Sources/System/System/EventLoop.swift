import CLinux
import Glibc

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
  /// A condition that depends on the kind of file; see `poll(2)`.
  public static let exceptional = IOEvents(rawValue: EPOLLPRI.rawValue)
  /// Both directions are closed. Reported even if not requested.
  public static let hangUp = IOEvents(rawValue: EPOLLHUP.rawValue)
  /// Something is wrong with the descriptor. Reported even if not requested.
  public static let failure = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// An sd-event loop: waits on one thread for the events of all its sources.
///
/// The loop removes a source when its ``EventSource`` is released. Methods throw the error of the
/// `sd_event_*` function that they call.
///
/// Keyboards are served without sd-event, which would be 8 µs slower after a pause: it touches 60
/// pages of code and data that are no longer in the processor's caches. So sd-event runs only when
/// one of its sources is ready, or was changed.
public final class EventLoop {
  let handle: OpaquePointer

  /// Called when urgent descriptors are readable or hung up: once for all of them, and before any
  /// source.
  public var serveUrgent: () -> Void = {}

  /// The urgent descriptors and sd-event's own descriptor. ``runOnce(waiting:)`` tells them apart.
  private let watched: DescriptorSet
  // Here and in other classes that serve keys, `unchecked` marks properties that no callback can
  // reach while they change. Checks of exclusive access would take 2,000 instructions for a key.
  /// Room for an event of each watched descriptor. The kernel's last answer is the first
  /// ``readyCount`` events.
  @exclusivity(unchecked) private var ready: [epoll_event] = []
  @exclusivity(unchecked) private var readyCount = 0

  /// Whether sd-event has to prepare for the next wait: one of its sources was added, switched on
  /// or off, or called, or a bus was used.
  @exclusivity(unchecked) var mustPrepare = true

  /// A new loop.
  public init() throws(SystemError) {
    watched = try DescriptorSet()
    var handle: OpaquePointer?
    try checked("make an event loop", sd_event_new(&handle))
    guard let handle else { throw SystemError("make an event loop", code: ENOMEM) }
    self.handle = handle
    try addUrgent(sd_event_get_fd(handle))
  }

  deinit { sd_event_unref(handle) }

  /// Runs until ``stop()``.
  public func run() throws(SystemError) {
    while sd_event_get_state(handle) != SD_EVENT_FINISHED { try runOnce(waiting: !mustPrepare) }
  }

  /// Runs the urgent handler, if it is due, and the handler of at most one source that is ready.
  /// Returns whether a handler ran.
  ///
  /// - Parameter waiting: whether to wait until anything is ready.
  @discardableResult
  public func runOnce(waiting: Bool = false) throws(SystemError) -> Bool {
    findReady(timeout: waiting ? -1 : 0)
    let areSourcesReady = isReady(sd_event_get_fd(handle))
    let isUrgent = readyCount > (areSourcesReady ? 1 : 0)
    if isUrgent { serveUrgent() }
    guard areSourcesReady || mustPrepare else { return isUrgent }
    // If no source is ready, this only prepares sd-event for the next wait.
    mustPrepare = try checked("run the event loop", sd_event_run(handle, 0)) > 0
    return isUrgent || mustPrepare
  }

  /// Finds out which descriptors are ready, and returns whether any is; see ``isReady(_:)``.
  ///
  /// - Parameter timeout: how many milliseconds to wait until one is ready; -1 for ever.
  @discardableResult
  public func findReady(timeout: Int32 = 0) -> Bool {
    // `epoll_wait` fails only if a signal ends the wait; then nothing is ready.
    readyCount = max(0, Int(epoll_wait(watched.descriptor, &ready, Int32(ready.count), timeout)))
    return readyCount > 0
  }

  /// Whether an urgent descriptor was readable or hung up at the last ``findReady(timeout:)``.
  public func isReady(_ descriptor: Int32) -> Bool {
    ready[..<readyCount].contains { $0.data.fd == descriptor }
  }

  /// Ends ``run()`` after the handler that calls this.
  public func stop() {
    mustPrepare = true
    sd_event_exit(handle, 0)
  }

  /// Sends watchdog notifications to the service manager from the loop, if it asked for them.
  public func reportToWatchdog() throws(SystemError) {
    try checked("set the watchdog", sd_event_set_watchdog(handle, 1))
  }

  /// Calls `handler` when one of `events` occurs on `descriptor`, which must outlive the source.
  public func addIO(
    _ descriptor: Int32, _ events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemError) -> EventSource {
    try EventSource(of: self, "watch a descriptor", handler) { slot, context in
      sd_event_add_io(
        handle, slot, descriptor, events.rawValue,
        { _, _, events, context in EventSource.call(context, IOEvents(rawValue: events)) },
        context)
    }
  }

  /// Makes a descriptor urgent: see ``serveUrgent``. Call ``removeUrgent(_:)`` before closing it.
  public func addUrgent(_ descriptor: Int32) throws(SystemError) {
    try watched.add(descriptor)
    ready.append(epoll_event())
  }

  /// Makes the loop forget an urgent descriptor.
  public func removeUrgent(_ descriptor: Int32) {
    watched.remove(descriptor)
    ready.removeLast()
    // The last answer may name this descriptor, and the next device may get the same number.
    // Descriptors that are still ready are in the next answer too.
    readyCount = 0
  }

  /// Calls `handler` with each of these signals that the process receives, even if it has ignored
  /// them. The signals stay blocked when the sources end, and no other thread may unblock them.
  public func addSignals(
    _ numbers: [Int32], handler: @escaping (Int32) -> Void
  ) throws(SystemError) -> [EventSource] {
    Signals.block(numbers)
    var sources: [EventSource] = []
    for number in numbers {
      sources.append(
        try EventSource(of: self, "catch a signal", { _ in handler(number) }) { slot, context in
          sd_event_add_signal(
            handle, slot, number, { _, _, context in EventSource.call(context, []) }, context)
        })
    }
    return sources
  }

  /// A timer that is off until ``EventSource/set(at:)``.
  public func addTimer(handler: @escaping () -> Void) throws(SystemError) -> EventSource {
    let source = try EventSource(of: self, "make a timer", { _ in handler() }) { slot, context in
      // An accuracy of 1 µs; 0 would mean the default, 250 ms.
      sd_event_add_time(
        handle, slot, CLOCK_BOOTTIME, UInt64.max, 1,
        { _, _, context in EventSource.call(context, []) }, context)
    }
    source.disable()
    return source
  }

  /// Adds a handler that runs once, in a later iteration of the loop, after each
  /// ``EventSource/callSoon()``.
  public func addDeferred(handler: @escaping () -> Void) throws(SystemError) -> EventSource {
    let source = try EventSource(of: self, "defer work", { _ in handler() }) { slot, context in
      sd_event_add_defer(handle, slot, { _, context in EventSource.call(context, []) }, context)
    }
    source.disable()
    return source
  }
}

/// A source of events in a loop; releasing it removes it from the loop.
public final class EventSource {
  private let handler: (IOEvents) -> Void
  private let loop: EventLoop
  private var handle: OpaquePointer?

  fileprivate init(
    of loop: EventLoop, _ operation: String, _ handler: @escaping (IOEvents) -> Void,
    add: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutableRawPointer) -> Int32
  ) throws(SystemError) {
    (self.loop, self.handler) = (loop, handler)
    loop.mustPrepare = true
    // Unretained: `deinit` removes the source from the loop, so the object outlives every call.
    try checked(operation, add(&handle, Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit { end() }

  /// Removes the source from the loop at once. Call this before closing the descriptor if another
  /// reference to the source may remain.
  public func end() { handle = sd_event_source_disable_unref(handle) }

  fileprivate static func call(_ context: UnsafeMutableRawPointer?, _ events: IOEvents) -> Int32 {
    guard let context else { return 0 }
    // A strong reference while the handler runs, since it may release its own source.
    let source = Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue()
    source.handler(events)
    return 0
  }

  /// Changes the events to wait for on the descriptor.
  public func wait(for events: IOEvents) { sd_event_source_set_io_events(handle, events.rawValue) }

  /// The priority of a source. The ready source with the lowest value is served first.
  public enum Priority: Int64, Sendable {
    /// Served before all others, except the urgent descriptors.
    case first = -100
    /// Served before sources of early priority.
    case earlier = -75
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

  /// Calls the timer's handler once, at `microseconds` of `CLOCK_BOOTTIME`; in a later iteration of
  /// the loop if that time has come already.
  public func set(at microseconds: UInt64) {
    sd_event_source_set_time(handle, microseconds)
    enable(SD_EVENT_ONESHOT)
  }

  /// Calls the timer's handler once, after at least `delay`: an early call would cost a wakeup.
  public func set(after delay: Duration) {
    set(at: UInt64(clamping: microsecondsSinceBoot() + max(.zero, delay).wholeMicroseconds + 1))
  }

  /// Schedules the deferred handler to be called once.
  public func callSoon() { enable(SD_EVENT_ONESHOT) }

  /// Whether the source waits for its event.
  public var isEnabled: Bool { sd_event_source_get_enabled(handle, nil) > 0 }

  /// Stops waiting, until ``enable()``, ``set(at:)`` or ``callSoon()``.
  public func disable() { enable(SD_EVENT_OFF) }

  /// Waits again, until ``disable()``.
  public func enable() { enable(SD_EVENT_ON) }

  private func enable(_ mode: some BinaryInteger) {
    loop.mustPrepare = true
    sd_event_source_set_enabled(handle, Int32(mode))
  }
}

/// Throws if a function of libsystemd returned a negative `errno`; otherwise returns its result.
@discardableResult
func checked(_ operation: String, _ result: Int32) throws(SystemError) -> Int32 {
  guard result < 0 else { return result }
  throw SystemError(operation, code: -result)
}
