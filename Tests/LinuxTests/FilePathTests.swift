import Terminal
import Testing

@Suite("Paths of files")
struct FilePathTests {
  @Test(
    "the text of a path shows each byte that is not UTF-8, and keeps everything else",
    arguments: [
      ([], "", true), ([0x61, 0x2f, 0xc3, 0xa4], "a/ä", true),
      ([0x0a, 0x22, 0x5c], "\n\"\\", true),
      ([0xff], "\\xff", false), ([0x61, 0xe9, 0x62], "a\\xe9b", false),
      // Cut off, too long, a surrogate, beyond Unicode.
      ([0xf0, 0x9f, 0x98], "\\xf0\\x9f\\x98", false),
      ([0xc0, 0xaf], "\\xc0\\xaf", false), ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80", false),
      ([0xf4, 0x90, 0x80, 0x80, 0xc3, 0xa4], "\\xf4\\x90\\x80\\x80ä", false),
    ] as [([UInt8], String, Bool)])
  func text(_ bytes: [UInt8], _ text: String, _ isText: Bool) {
    let path = (bytes + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { FilePath(cString: $0) }
    }
    #expect(path?.text == text)
    #expect(path?.isText == isText)
  }
}
