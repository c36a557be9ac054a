/// A fault of a libinput recording, with what it means for the text behind it.
struct LibinputFault: Error {
  enum Kind: Equatable {
    /// A value is wrong, and the text behind it is read as if it were right.
    case value
    /// The YAML is right, but not its structure: the text from this line on has to be read anew.
    case structure(resume: Int)
    /// The YAML is wrong. `unreadable` is the line if it has bytes that no YAML may contain.
    case yaml(unreadable: Int?)
    /// The text cannot be read, or must not be.
    case fatal
  }

  let kind: Kind
  let error: RecordingError
}
