/// What AT-SPI calls an accessible: a window, a button, a text field.
///
/// Its address is all that is kept of it.
struct AccessibleObject: Hashable, Sendable {
  /// The unique name of its program on the accessibility bus, such as `:1.7`.
  let program: String
  /// Its path in the program.
  let path: String
}
