import Foundation
import Terminal
import TestSupport
import Testing

@Suite("Silent terminal")
struct SilentTerminalTests {
  /// Both ends of a terminal that controls no process.
  private final class Ends {
    let keyboard: Int32
    let program: Int32

    init() throws {
      keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      // TIOCSPTLCK and TIOCGPTN of the kernel, which Swift does not import.
      var (lock, number): (Int32, UInt32) = (0, 0)
      try #require(ioctl(keyboard, 0x4004_5431, &lock) == 0)
      try #require(ioctl(keyboard, 0x8004_5430, &number) == 0)
      program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(program >= 0)
    }

    deinit {
      close(program)
      close(keyboard)
    }

    /// Types `text`, and waits until the program can read it: the kernel hands it over later.
    func type(_ text: String) throws {
      #expect(write(keyboard, text, text.utf8.count) == text.utf8.count)
      try wait(for: "what was typed") { try waiting().typed == text.utf8.count }
    }

    /// How many bytes the program can read now, and how many were echoed.
    func waiting() throws -> (typed: Int32, echoed: Int32) {
      var counts: (Int32, Int32) = (0, 0)
      try #require(ioctl(program, UInt(FIONREAD), &counts.0) == 0)
      try #require(ioctl(keyboard, UInt(FIONREAD), &counts.1) == 0)
      return counts
    }

    func settings() throws -> [UInt32] {
      var settings = termios()
      try #require(tcgetattr(program, &settings) == 0)
      return [settings.c_lflag, settings.c_iflag]
    }
  }

  @Test("while it is silent, nothing is echoed; afterwards nothing typed is left")
  func silent() throws {
    let ends = try Ends()
    let before = try ends.settings()
    let terminal = try #require(SilentTerminal(ends.program))
    terminal.enter()
    terminal.enter()
    try ends.type("secret\r\u{16}\u{13}")
    #expect(try ends.waiting() == (9, 0))
    #expect(try ends.settings()[0] & UInt32(ISIG) != 0, "Ctrl+C keeps working")
    terminal.leave()
    #expect(try ends.waiting() == (0, 0))
    #expect(try ends.settings() == before)
    terminal.leave()
    try ends.type("shown\r")
    #expect(try ends.waiting() == (6, 7), "it is echoed with a line feed")
  }

  @Test("it is silent until its object is gone, and again after each entry")
  func again() throws {
    let ends = try Ends()
    let before = try ends.settings()
    do {
      let terminal = try #require(SilentTerminal(ends.program))
      terminal.enter()
      terminal.leave()
      terminal.enter()
      #expect(try ends.settings() != before)
      try ends.type("x")
    }
    #expect(try ends.settings() == before)
    #expect(try ends.waiting() == (0, 0))
  }

  @Test("what was typed before stays for the next program, if it is never silent")
  func untouched() throws {
    let ends = try Ends()
    do { _ = try #require(SilentTerminal(ends.program)) }
    try ends.type("x\r")
    #expect(try ends.waiting() == (2, 3))
  }

  @Test("a file is no terminal")
  func file() throws {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    #expect(SilentTerminal(null) == nil)
  }
}
