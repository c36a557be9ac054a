import Testing
import Wire

@Suite("Frame buffer")
struct FrameBufferTests {
  private func append(_ text: String, to buffer: inout FrameBuffer) {
    Array(text.utf8).withUnsafeBytes { buffer.append($0) }
  }

  private func next(_ buffer: inout FrameBuffer) throws -> String? {
    try buffer.next().map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("bytes are cut into messages at NUL, however they arrive")
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

  @Test("memory is bounded by the longest message, and freed when that is taken")
  func memory() throws {
    let limit = 65536
    let chunk = String(repeating: "x", count: 4096)
    for rest in ["", "y"] {
      var buffer = FrameBuffer(limit: limit)
      for count in 1...limit / chunk.count {
        append(chunk, to: &buffer)
        #expect(try next(&buffer) == nil)
        #expect(buffer.capacity <= 2 * count * chunk.count + 64)
        #expect(buffer.capacity <= limit + 64)
      }
      append("\u{0}" + rest, to: &buffer)
      #expect(buffer.capacity <= limit + chunk.count)
      #expect(try next(&buffer)?.count == limit)
      #expect(buffer.capacity < 64, "\(buffer.capacity) bytes for \(rest.count)")
    }
  }

  @Test("the limit of a message's length is exact to the byte")
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
