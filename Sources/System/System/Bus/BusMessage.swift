import CLinux
import Glibc

/// A message of sd-bus: arguments are written into it one by one, or read from it all at once.
struct BusMessage: ~Copyable {
  let handle: OpaquePointer

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

  /// A received message, with a reference of its own.
  init(received handle: OpaquePointer) {
    self.handle = sd_bus_message_ref(handle)
  }

  deinit { sd_bus_message_unref(handle) }

  /// The error that the message carries, if any.
  var error: BusError? {
    guard let error = sd_bus_message_get_error(handle) else { return nil }
    return BusError(
      name: string(error.pointee.name) ?? "", message: string(error.pointee.message) ?? "")
  }

  private func string(_ text: UnsafePointer<CChar>?) -> String? { text.map { String(cString: $0) } }

  // MARK: - Writing

  private func append(_ value: BusValue) throws(SystemError) {
    switch value {
    case .bool(let isTrue): try append("b", CInt(isTrue ? 1 : 0))
    case .uint32(let number): try append("u", number)
    case .uint64(let number): try append("t", number)
    case .descriptor(let number): try append("h", number)
    case .string(let text):
      let type = Unicode.Scalar("s").character
      try write(text.withCString { sd_bus_message_append_basic(handle, type, $0) })
    case .array(let element, let elements): try append("a", element, elements)
    case .structure(let members):
      try append("r", members.map(\.signature).joined(), members)
    case .entry(let key, let value): try append("e", key.signature + value.signature, [key, value])
    case .variant(let value): try append("v", value.signature, [value])
    case .other: throw SystemError("write a message", code: EINVAL)
    }
  }

  private func append(_ type: Unicode.Scalar, _ number: some BitwiseCopyable) throws(SystemError) {
    var number = number
    try write(sd_bus_message_append_basic(handle, type.character, &number))
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

  func arguments() throws(SystemError) -> [BusValue] {
    try read(sd_bus_message_rewind(handle, 1))
    return try values()
  }

  /// The values up to the end of the present container.
  private func values() throws(SystemError) -> [BusValue] {
    var values: [BusValue] = []
    while let value = try next() { values.append(value) }
    return values
  }

  private func next() throws(SystemError) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard try read(sd_bus_message_peek_type(handle, &type, &contents)) > 0 else { return nil }
    switch Unicode.Scalar(UInt8(bitPattern: type)) {
    case "b": return .bool(try number(type, CInt(0)) != 0)
    case "u": return .uint32(try number(type, 0))
    case "t": return .uint64(try number(type, 0))
    case "h": return .descriptor(try number(type, 0))
    case "s", "o":
      var text: UnsafePointer<CChar>?
      try read(sd_bus_message_read_basic(handle, type, &text))
      return .string(string(text) ?? "")
    case "a": return .array(of: string(contents) ?? "", try elements(type, contents))
    case "r": return .structure(try elements(type, contents))
    case "e":
      let pair = try elements(type, contents)
      return .entry(pair[0], pair[1])
    case "v": return .variant(try elements(type, contents)[0])
    default:
      try read(sd_bus_message_skip(handle, [type, 0]))
      return .other
    }
  }

  private func number<Number: BitwiseCopyable>(
    _ type: CChar, _ zero: Number
  ) throws(SystemError) -> Number {
    var number = zero
    try read(sd_bus_message_read_basic(handle, type, &number))
    return number
  }

  /// The values in the next container. libsystemd ensures two values in an entry, one in a variant.
  private func elements(
    _ type: CChar, _ contents: UnsafePointer<CChar>?
  ) throws(SystemError) -> [BusValue] {
    // libsystemd keeps `contents` only until the next call.
    let contents = string(contents)
    try read(sd_bus_message_enter_container(handle, type, contents))
    let values = try values()
    try read(sd_bus_message_exit_container(handle))
    return values
  }

  @discardableResult
  private func read(_ result: Int32) throws(SystemError) -> Int32 {
    try checked("read a message", result)
  }
}

extension Unicode.Scalar {
  /// The code as C's `char`: the types of D-Bus are ASCII letters and brackets.
  fileprivate var character: CChar { CChar(truncatingIfNeeded: value) }
}
