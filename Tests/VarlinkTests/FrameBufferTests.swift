import Testing
import Varlink

@Suite("The bytes of a connection")
struct FrameBufferTests {
  private func append(_ text: String, to buffer: inout FrameBuffer) {
    Array(text.utf8).withUnsafeBytes { buffer.append($0) }
  }

  private func next(_ buffer: inout FrameBuffer) throws -> String? {
    try buffer.next().map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("are cut into messages at NUL, however they arrive")
  func messages() throws {
    let text = "one\u{0}\u{0}three\u{0}rest"
    for size in 1...text.utf8.count {
      var buffer = FrameBuffer(limit: 8)
      var found: [String] = []
      var rest = text[...]
      while !rest.isEmpty {
        append(String(rest.prefix(size)), to: &buffer)
        rest = rest.dropFirst(size)
        while let message = try next(&buffer) { found.append(message) }
      }
      #expect(found == ["one", "", "three"])
      append("\u{0}", to: &buffer)
      #expect(try next(&buffer) == "rest")
      #expect(try next(&buffer) == nil)
    }
  }

  @Test("of one message have a limit, to the byte")
  func limit() throws {
    var buffer = FrameBuffer(limit: 4)
    append("1234\u{0}", to: &buffer)
    #expect(try next(&buffer) == "1234")
    append("1234", to: &buffer)
    #expect(try next(&buffer) == nil)
    append("5", to: &buffer)
    #expect(throws: FrameBuffer.TooLong.self) { try buffer.next() }
    var whole = FrameBuffer(limit: 4)
    append("12345\u{0}", to: &whole)
    #expect(throws: FrameBuffer.TooLong.self) { try whole.next() }
  }
}
