import CLibsystemd
import Glibc
public import SystemCalls

/// A connection to a D-Bus, by sd-bus, served by an event loop. No method waits for an answer.
///
/// The messages of a connection are handled in order: a signal that is sent after the answer to a
/// call arrives after it, and one that is sent after ``signals(_:handler:)`` is not missed.
public final class Bus {
  /// Which bus to connect to.
  public enum Address: Hashable, Sendable {
    /// The bus of the whole machine.
    case system
    /// The bus of the user, or of the user's session.
    case session
    /// The user's service manager itself, without a bus in between: calls have no destination.
    case userManager
    /// The service manager of the system, in the same way; for root alone.
    case systemManager
    /// The bus at this address of D-Bus, such as `unix:path=/run/user/1000/at-spi/bus_0`. Another
    /// program told it, so it may only be of Unix sockets: libsystemd would run the command of a
    /// `unixexec:`.
    case at(String)
  }

  /// The calls that are not answered yet.
  private final class PendingCalls {
    var calls: [ObjectIdentifier: PendingCall] = [:]
  }

  /// A call that is not answered yet.
  private final class PendingCall {
    private let answer: (Result<[BusValue], BusError>) -> Void
    private let all: PendingCalls
    var slot: OpaquePointer?

    init(_ all: PendingCalls, _ answer: @escaping (Result<[BusValue], BusError>) -> Void) {
      (self.all, self.answer) = (all, answer)
      all.calls[ObjectIdentifier(self)] = self
    }

    deinit { sd_bus_slot_unref(slot) }

    /// Answers, once.
    func end(_ result: Result<[BusValue], BusError>) {
      if all.calls.removeValue(forKey: ObjectIdentifier(self)) != nil { answer(result) }
    }
  }

  private let loop: EventLoop
  let handle: OpaquePointer
  private let pending = PendingCalls()

  /// Connects. The connection is made, and failures after this are told, by the loop.
  ///
  /// - Throws: if the bus has no address or refuses the connection at once, such as `ENOENT` or
  ///   `ECONNREFUSED`.
  public init(_ address: Address, on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    handle = try Bus.open(address)
    let result = sd_bus_attach_event(handle, loop.handle, 0)
    if result < 0 {
      sd_bus_unref(handle)
      throw address.error(-result)
    }
  }

  deinit {
    sd_bus_detach_event(handle)
    // Without a flush, which would wait for a bus that hangs.
    sd_bus_close_unref(handle)
    let lost = BusError(name: "org.freedesktop.DBus.Error.Disconnected", message: "")
    for call in pending.calls.values { call.end(.failure(lost)) }
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
      case .at(let address):
        isOfUnixSockets(address)
          ? openDirectly(address, isBus: true, &handle) : -EAFNOSUPPORT
      }
    guard result >= 0, let handle else {
      throw address.error(result < 0 ? -result : ENOMEM)
    }
    return handle
  }

  /// See `systemctl --user`, which connects to the same socket.
  private static var userManagerAddress: String? {
    environment("XDG_RUNTIME_DIR").map { "unix:path=\(addressText($0))/systemd/private" }
  }

  /// A path as a value in an address of D-Bus, which escapes most bytes as `%` and two digits.
  private static func addressText(_ path: String) -> String {
    let digits = Array("0123456789abcdef")
    return path.utf8.reduce(into: "") { text, byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain = character.isASCII && (character.isLetter || character.isNumber)
      text +=
        isPlain || "-_/.\\".contains(character)
        ? "\(character)" : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
  }

  private static func isOfUnixSockets(_ address: String) -> Bool {
    let choices = address.utf8.split(separator: UInt8(ascii: ";"))
    return !choices.isEmpty && choices.allSatisfy { $0.starts(with: "unix:".utf8) }
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

  /// Calls a method. The loop calls `answer` once: with the values that the method returns, or with
  /// the error if it fails, does not answer in time, or the connection is lost.
  public func call(
    _ call: BusCall, timeout: Duration = .seconds(5),
    answer: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    let waiting = PendingCall(pending, answer)
    do throws(SystemError) {
      let message = try BusMessage.call(call, on: handle)
      let microseconds = UInt64(clamping: timeout.wholeMicroseconds)
      // Unretained: `pending` keeps the object until the call is answered.
      let context = Unmanaged.passUnretained(waiting).toOpaque()
      try message.send { message in
        sd_bus_call_async(handle, &waiting.slot, message, Bus.answered, context, microseconds)
      }
    } catch {
      waiting.end(.failure(BusError(error)))
    }
  }

  private static let answered: sd_bus_message_handler_t = { message, context, _ in
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

  // MARK: - Signals

  /// Calls `handler`, from the loop, for each signal that matches, until the result is released.
  public func signals(
    _ match: BusMatch, handler: @escaping (BusSignal) -> Void
  ) throws(SystemError) -> BusSlot {
    try BusSlot(handle, match.rule, handler)
  }

  /// Calls `handler`, from the loop, whenever a program takes or leaves this name, with whether one
  /// has it now.
  public func owner(
    of name: String, changed handler: @escaping (Bool) -> Void
  ) throws(SystemError) -> BusSlot {
    let bus = "org.freedesktop.DBus"
    let match = BusMatch(
      sender: bus, interface: bus, member: "NameOwnerChanged", firstArgument: name)
    return try signals(match) { handler($0.arguments.last?.text?.isEmpty == false) }
  }

  /// Calls `handler`, from the loop, once the connection is lost.
  public func whenLost(_ handler: @escaping () -> Void) throws(SystemError) -> BusSlot {
    let local = "org.freedesktop.DBus.Local"
    return try signals(BusMatch(sender: local, interface: local, member: "Disconnected")) { _ in
      handler()
    }
  }
}

/// Receives signals until it is released.
public final class BusSlot {
  private let handler: (BusSignal) -> Void
  private var handle: OpaquePointer?

  fileprivate init(
    _ bus: OpaquePointer, _ rule: String, _ handler: @escaping (BusSignal) -> Void
  ) throws(SystemError) {
    self.handler = handler
    // Unretained: `deinit` removes the match, so the object outlives every call. Without a handler
    // for the answer, sd-bus closes the connection if the bus refuses the match.
    let context = Unmanaged.passUnretained(self).toOpaque()
    try checked(
      "receive signals", sd_bus_add_match_async(bus, &handle, rule, BusSlot.received, nil, context))
  }

  deinit { sd_bus_slot_unref(handle) }

  private static let received: sd_bus_message_handler_t = { message, context, _ in
    guard let message, let context else { return 0 }
    // A strong reference while the handler runs, since it may release the slot.
    let slot = Unmanaged<BusSlot>.fromOpaque(context).takeUnretainedValue()
    let signal = BusMessage(received: message)
    // A signal that cannot be read, or is too long, is of another interface than its name says.
    guard let arguments = try? signal.arguments() else { return 0 }
    slot.handler(
      BusSignal(
        sender: signal.sender, path: signal.path, member: signal.member, arguments: arguments))
    return 0
  }
}

extension BusError {
  init(_ error: SystemError) {
    self.init(name: "org.freedesktop.DBus.Error.Failed", message: "\(error)")
  }
}

extension Bus.Address {
  /// The error of an attempt to connect; where there is only one of a user's session, with what to do.
  fileprivate func error(_ code: Int32) -> SystemError {
    let name =
      switch self {
      case .system: "the system bus"
      case .session: "the session bus"
      case .userManager: "the user's service manager"
      case .systemManager: "the service manager"
      case .at(let address): address
      }
    let isOfSession = self == .session || self == .userManager
    let reason = String(cString: strerror(code))
    let advice = "; start this in a session of the user, not by sudo or su"
    return SystemError("connect to", name, code: code, reason: isOfSession ? reason + advice : nil)
  }
}
