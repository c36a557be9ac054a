/// Text or records in memory for a fast path to read. The last line or record may be incomplete.
struct RegularText {
  /// How many more bytes behind `end` may be read, so that a fast path has to check only once a
  /// line that it is within the text.
  static let margin = 64

  let start: UnsafeRawPointer
  let end: UnsafeRawPointer

  /// How much of it a fast path has read.
  struct Length {
    var bytes = 0
    /// The number of lines or records.
    var parts = 0
    /// The number of key events.
    var events = 0
  }
}
