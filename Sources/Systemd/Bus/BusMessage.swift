import CLibsystemd
import Glibc
import SystemCalls

/// A message of sd-bus: arguments are written into it one by one, or read from it all at once.
struct BusMessage: ~Copyable {
  private let handle: OpaquePointer

  /// A new call.
  static func call(_ call: BusCall, on bus: OpaquePointer) throws(SystemError) -> BusMessage {
    var handle: OpaquePointer?
    try checked(
      "make a message",
      sd_bus_message_new_method_call(
        bus, &handle, call.destination, call.path, call.interface, call.member))
    guard let handle else { throw SystemError("make a message", code: ENOMEM) }
    let message = BusMessage(owning: handle)
    for argument in call.arguments { try message.append(argument) }
    return message
  }

  private init(owning handle: OpaquePointer) { self.handle = handle }

  /// A received message, which the caller keeps.
  init(received handle: OpaquePointer) {
    self.handle = sd_bus_message_ref(handle)
  }

  deinit { sd_bus_message_unref(handle) }

  // MARK: - Header

  var path: String { string(sd_bus_message_get_path(handle)) ?? "" }
  var member: String { string(sd_bus_message_get_member(handle)) ?? "" }
  var sender: String? { string(sd_bus_message_get_sender(handle)) }

  /// The error that the message carries, if it does.
  var error: BusError? {
    guard let error = sd_bus_message_get_error(handle) else { return nil }
    return BusError(
      name: string(error.pointee.name) ?? "", message: string(error.pointee.message) ?? "")
  }

  private func string(_ text: UnsafePointer<CChar>?) -> String? { text.map { String(cString: $0) } }

  /// Sends the call; `body` is given the message's handle.
  func send(_ body: (OpaquePointer) -> Int32) throws(SystemError) {
    try checked("call over D-Bus", body(handle))
  }

  // MARK: - Writing

  private func append(_ value: BusValue) throws(SystemError) {
    switch value {
    case .byte(let number): try append("y", number)
    case .bool(let isTrue): try append("b", CInt(isTrue ? 1 : 0))
    case .int16(let number): try append("n", number)
    case .uint16(let number): try append("q", number)
    case .int32(let number): try append("i", number)
    case .uint32(let number): try append("u", number)
    case .int64(let number): try append("x", number)
    case .uint64(let number): try append("t", number)
    case .double(let number): try append("d", number)
    case .string(let text): try append("s", text: text)
    case .objectPath(let text): try append("o", text: text)
    case .signature(let text): try append("g", text: text)
    case .array(let element, let elements): try append("a", element, elements)
    case .structure(let members):
      try append("r", members.map(\.signature).joined(), members)
    case .entry(let key, let value): try append("e", key.signature + value.signature, [key, value])
    case .variant(let value): try append("v", value.signature, [value])
    }
  }

  private func append(_ type: Unicode.Scalar, _ number: some BitwiseCopyable) throws(SystemError) {
    var number = number
    try write(sd_bus_message_append_basic(handle, type.character, &number))
  }

  private func append(_ type: Unicode.Scalar, text: String) throws(SystemError) {
    try write(text.withCString { sd_bus_message_append_basic(handle, type.character, $0) })
  }

  private func append(
    _ type: Unicode.Scalar, _ contents: String, _ values: [BusValue]
  ) throws(SystemError) {
    try write(sd_bus_message_open_container(handle, type.character, contents))
    for value in values { try append(value) }
    try write(sd_bus_message_close_container(handle))
  }

  private func write(_ result: Int32) throws(SystemError) { try checked("write a message", result) }

  // MARK: - Reading

  /// Ends the writing of a message that is not sent, so that it can be read; for tests.
  func seal() throws(SystemError) { try write(sd_bus_message_seal(handle, 1, 0)) }

  /// How many values and bytes of texts a message may have. Any program of the user can send more, and
  /// each value takes many times its size in the message.
  private static let most = 1 << 16

  /// All arguments. Throws if one is of a type that ``BusValue`` does not have: a descriptor. Throws
  /// `EMSGSIZE` if they have more than 65,536 values and bytes of texts.
  func arguments() throws(SystemError) -> [BusValue] {
    try checked("read a message", sd_bus_message_rewind(handle, 1))
    var room = Self.most
    return try values(&room)
  }

  /// The values up to the end of the present container.
  private func values(_ room: inout Int) throws(SystemError) -> [BusValue] {
    var values: [BusValue] = []
    while let value = try next(&room) { values.append(value) }
    return values
  }

  private func take(_ count: Int, of room: inout Int) throws(SystemError) {
    room -= count
    guard room >= 0 else { throw SystemError("read a message", code: EMSGSIZE) }
  }

  private func next(_ room: inout Int) throws(SystemError) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard try read(sd_bus_message_peek_type(handle, &type, &contents)) > 0 else { return nil }
    try take(1, of: &room)
    switch Unicode.Scalar(UInt8(bitPattern: type)) {
    case "y": return .byte(try number(type, 0))
    case "b": return .bool(try number(type, CInt(0)) != 0)
    case "n": return .int16(try number(type, 0))
    case "q": return .uint16(try number(type, 0))
    case "i": return .int32(try number(type, 0))
    case "u": return .uint32(try number(type, 0))
    case "x": return .int64(try number(type, 0))
    case "t": return .uint64(try number(type, 0))
    case "d": return .double(try number(type, 0))
    case "s": return .string(try text(type, &room))
    case "o": return .objectPath(try text(type, &room))
    case "g": return .signature(try text(type, &room))
    case "a": return .array(of: string(contents) ?? "", try inside(type, contents, &room))
    case "r": return .structure(try inside(type, contents, &room))
    case "e":
      let pair = try inside(type, contents, &room)
      guard pair.count == 2 else { break }
      return .entry(pair[0], pair[1])
    case "v":
      guard let value = try inside(type, contents, &room).first else { break }
      return .variant(value)
    default: break
    }
    throw SystemError("read a message", code: EBADMSG)
  }

  private func number<Number: BitwiseCopyable>(
    _ type: CChar, _ zero: Number
  ) throws(SystemError) -> Number {
    var number = zero
    try read(sd_bus_message_read_basic(handle, type, &number))
    return number
  }

  private func text(_ type: CChar, _ room: inout Int) throws(SystemError) -> String {
    var text: UnsafePointer<CChar>?
    try read(sd_bus_message_read_basic(handle, type, &text))
    guard let text else { return "" }
    try take(strlen(text), of: &room)
    return String(cString: text)
  }

  /// The values in the next container.
  private func inside(
    _ type: CChar, _ contents: UnsafePointer<CChar>?, _ room: inout Int
  ) throws(SystemError) -> [BusValue] {
    // libsystemd keeps `contents` only until the next call.
    let contents = string(contents)
    try read(sd_bus_message_enter_container(handle, type, contents))
    let values = try values(&room)
    try read(sd_bus_message_exit_container(handle))
    return values
  }

  @discardableResult
  private func read(_ result: Int32) throws(SystemError) -> Int32 {
    try checked("read a message", result)
  }
}

extension Unicode.Scalar {
  /// The code as a character of C; D-Bus's types are ASCII.
  fileprivate var character: CChar { CChar(truncatingIfNeeded: value) }
}
