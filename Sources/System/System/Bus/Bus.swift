import CLinux
import Glibc

/// A connection to a D-Bus, by sd-bus, served by an event loop. No method waits for an answer.
///
/// The messages of a connection are handled in order. To miss no signal that a program sends after
/// its answer, use ``signals(_:handler:)`` before the call.
public final class Bus {
  /// Which bus to connect to.
  public enum Address: Hashable, Sendable {
    /// The bus of the whole machine.
    case system
    /// The bus of the user's session.
    case session
    /// The user's service manager itself, without a bus in between: calls have no destination.
    case userManager
    /// The system's service manager itself, also without a bus. Only root may connect to it.
    case systemManager
    /// The bus at this address of D-Bus, such as `unix:path=/tmp/bus`; for tests.
    case at(String)
  }

  /// Receives the answer to a call. The connection keeps this object until the call is over.
  private final class PendingCall {
    private var answer: ((Result<[BusValue], BusError>) -> Void)?

    init(_ answer: @escaping (Result<[BusValue], BusError>) -> Void) { self.answer = answer }

    /// Answers the call. Only the first result counts.
    func end(_ result: Result<[BusValue], BusError>) {
      let answer = self.answer
      self.answer = nil
      answer?(result)
    }
  }

  private let loop: EventLoop
  let handle: OpaquePointer

  /// Begins to connect; the loop does the rest. ``whenLost(_:)`` reports a later failure.
  ///
  /// - Throws: if the bus has no address or refuses the connection at once, such as `ENOENT` or
  ///   `ECONNREFUSED`.
  public init(_ address: Address, on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    handle = try Bus.open(address)
    // Otherwise the end of the loop would flush the connection, and wait for a bus that hangs.
    sd_bus_set_close_on_exit(handle, 0)
    loop.mustPrepare = true
    let result = sd_bus_attach_event(handle, loop.handle, 0)
    // The object is whole by now, so `deinit` runs and releases the connection.
    if result < 0 { throw address.error(-result) }
  }

  deinit {
    sd_bus_detach_event(handle)
    // Closes without a flush, which would wait for a bus that hangs.
    sd_bus_close_unref(handle)
  }

  private static func open(_ address: Address) throws(SystemError) -> OpaquePointer {
    var handle: OpaquePointer?
    let result =
      switch address {
      case .system: sd_bus_open_system(&handle)
      case .session: sd_bus_open_user(&handle)
      case .userManager: openDirectly(userManagerAddress, isBus: false, &handle)
      case .systemManager:
        openDirectly("unix:path=/run/systemd/private", isBus: false, &handle)
      case .at(let address): openDirectly(address, isBus: true, &handle)
      }
    guard result >= 0, let handle else {
      throw address.error(result < 0 ? -result : ENOMEM)
    }
    return handle
  }

  /// The address of the socket to which `systemctl --user` connects.
  private static var userManagerAddress: String? {
    environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/systemd/private" }
  }

  private static func openDirectly(
    _ address: String?, isBus: Bool, _ handle: inout OpaquePointer?
  ) -> Int32 {
    guard let address else { return -ENXIO }
    var result = sd_bus_new(&handle)
    if result >= 0 { result = sd_bus_set_address(handle, address) }
    if result >= 0, isBus { result = sd_bus_set_bus_client(handle, 1) }
    if result >= 0 { result = sd_bus_start(handle) }
    if result < 0 { handle = sd_bus_unref(handle) }
    return result
  }

  /// The process at the other end; `nil` if the kernel does not say.
  public var peer: PeerProcess? { PeerProcess(of: sd_bus_get_fd(handle)) }

  // MARK: - Calls

  /// Calls a method, and calls `answer` once: with the values that the method returns, or with an
  /// error if it fails or does not answer in time, or if the connection is lost. The loop calls
  /// `answer`; if the call cannot be sent, this function itself calls it.
  public func call(
    _ call: BusCall, timeout: Duration = .seconds(5),
    answer: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    loop.mustPrepare = true
    // Retained until `destroyHandler`, which follows the answer or the end of the connection.
    let waiting = Unmanaged.passRetained(PendingCall(answer))
    do throws(SystemError) {
      var slot: OpaquePointer?
      let message = try BusMessage.call(call, on: handle)
      let microseconds = UInt64(clamping: timeout.wholeMicroseconds)
      try checked(
        "call over D-Bus",
        sd_bus_call_async(
          handle, &slot, message.handle, Bus.replyHandler, waiting.toOpaque(), microseconds))
      sd_bus_slot_set_destroy_callback(slot, Bus.destroyHandler)
      // The connection alone keeps the slot.
      sd_bus_slot_set_floating(slot, 1)
      sd_bus_slot_unref(slot)
    } catch {
      waiting.takeRetainedValue().end(.failure(BusError(error)))
    }
  }

  private static let replyHandler: sd_bus_message_handler_t = { message, context, _ in
    guard let message, let context else { return 0 }
    let call = Unmanaged<PendingCall>.fromOpaque(context).takeUnretainedValue()
    let answer = BusMessage(received: message)
    if let error = answer.error {
      call.end(.failure(error))
    } else {
      call.end(Result { () throws(SystemError) in try answer.arguments() }.mapError(BusError.init))
    }
    return 0
  }

  private static let destroyHandler: sd_bus_destroy_t = { context in
    guard let context else { return }
    let lost = BusError(name: "org.freedesktop.DBus.Error.Disconnected", message: "")
    Unmanaged<PendingCall>.fromOpaque(context).takeRetainedValue().end(.failure(lost))
  }

  // MARK: - Signals

  /// Calls `handler`, from the loop, with the arguments of each signal that matches, until the
  /// result is released.
  ///
  /// - Parameter rule: a match rule of D-Bus, such as `interface='a.b',member='Changed'`.
  public func signals(
    _ rule: String, handler: @escaping ([BusValue]) -> Void
  ) throws(SystemError) -> BusSlot {
    loop.mustPrepare = true
    return try BusSlot(handle, "type='signal',\(rule)", handler)
  }

  /// Calls `handler`, from the loop, whenever the owner of this name changes. `nil` means that the
  /// name has no owner now.
  func whenOwnerChanges(
    of name: String, _ handler: @escaping (String?) -> Void
  ) throws(SystemError) -> BusSlot {
    let bus = "org.freedesktop.DBus"
    let rule = "sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\(name)'"
    return try signals(rule) {
      let owner = $0.last?.text ?? ""
      handler(owner.isEmpty ? nil : owner)
    }
  }

  /// Calls `handler`, from the loop, once the connection is lost.
  public func whenLost(_ handler: @escaping () -> Void) throws(SystemError) -> BusSlot {
    let local = "org.freedesktop.DBus.Local"
    return try signals("sender='\(local)',interface='\(local)',member='Disconnected'") { _ in
      handler()
    }
  }
}

/// Receives signals until it is released.
public final class BusSlot {
  private let handler: ([BusValue]) -> Void
  private var handle: OpaquePointer?

  fileprivate init(
    _ bus: OpaquePointer, _ rule: String, _ handler: @escaping ([BusValue]) -> Void
  ) throws(SystemError) {
    self.handler = handler
    // Unretained: `deinit` removes the match, so the object outlives every call. Without a handler
    // for the answer, sd-bus closes the connection if the bus refuses the match.
    let context = Unmanaged.passUnretained(self).toOpaque()
    try checked(
      "receive signals", sd_bus_add_match_async(bus, &handle, rule, BusSlot.receive, nil, context))
  }

  deinit { sd_bus_slot_unref(handle) }

  private static let receive: sd_bus_message_handler_t = { message, context, _ in
    guard let message, let context else { return 0 }
    // A strong reference while the handler runs, since it may release the slot.
    let slot = Unmanaged<BusSlot>.fromOpaque(context).takeUnretainedValue()
    // A malformed signal is ignored.
    if let arguments = try? BusMessage(received: message).arguments() { slot.handler(arguments) }
    return 0
  }
}

extension BusError {
  init(_ error: SystemError) {
    self.init(name: "org.freedesktop.DBus.Error.Failed", message: "\(error)")
  }
}

extension Bus.Address {
  /// The error of an attempt to connect. For the user's service manager, it also says what to do.
  fileprivate func error(_ code: Int32) -> SystemError {
    let name =
      switch self {
      case .system: "the system bus"
      case .session: "the session bus"
      case .userManager: "the user's service manager"
      case .systemManager: "the service manager"
      case .at(let address): address
      }
    let reason = String(cString: strerror(code))
    let advice = "; start this in a session of the user, not by sudo or su"
    return SystemError(
      "connect to", name, code: code, reason: self == .userManager ? reason + advice : nil)
  }
}
