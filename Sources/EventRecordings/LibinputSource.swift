/// Where the YAML comes from.
final class LibinputSource {
  private var input: InputReader

  /// Why reading failed, if it did.
  private(set) var failure: String?

  /// Whether a comment said that keys were obfuscated; libyaml passes over comments.
  private(set) var hasObfuscationMark = false

  init(_ input: consuming InputReader) { self.input = input }

  var bytesTaken: Int { input.bytesTaken }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    do throws(InputReaderError) {
      let count = try input.take(into: buffer)
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if !hasObfuscationMark, bytes.firstOffset(of: " (obfuscated)") != nil {
        hasObfuscationMark = true
      }
      return count
    } catch {
      failure = RecordingError(error, file: "").message
      return nil
    }
  }
}
