import KeyboardModes
import Recordings
import TestSupport
import Testing

@Suite("Recordings of evemu")
struct EvemuTests {
  @Test("the key events are returned, and the description is skipped")
  func whole() throws {
    let outcome = try read(
      """
      # EVEMU 1.3
      # Kernel: 6.1.0
      # Input device name: "AT Translated Set 2 keyboard"
      N: AT Translated Set 2 keyboard # 2
      I: 0011 0001 0001 ab41
      P: 00 00 00 00 00 00 00 00
      B: 00 0b 00 00 00 00 00 00 00
      B: 01 fe ff ff ff ff ff ff ff
      A: 00 0 255 0 0 0
      L: 00 1
      S: 00 0
      ################################
      #      Waiting for events      #
      ################################
      E: 0.000001 0004 0004 0042\t# EV_MSC / MSC_SCAN             42
      E: 0.000001 0001 002a 0001\t# EV_KEY / KEY_LEFTSHIFT        1
      E: 0.000001 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +0ms
      E: 0.250002 0001 002a 0002\t# EV_KEY / KEY_LEFTSHIFT        2
      E: 0.250002 0000 0000 0001\t# ------------ SYN_REPORT (1) ---------- +250ms
      E: 1.300000 0001 002a 0000\t# EV_KEY / KEY_LEFTSHIFT        0
      E: 1.300000 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +1050ms

      """)
    #expect(outcome.error == nil)
    #expect(outcome.warnings == [])
    #expect(
      try outcome.events == [
        event(1, 42, .press), event(250_002, 42, .autorepeat), event(1_300_000, 42, .release),
      ])
  }

  @Test(
    "a recording of any version is read",
    arguments: ["", "# EVEMU 1.0\n", "# EVEMU 1.1\n", "# EVEMU 1.2\n", "# EVEMU 2.0\n"])
  func versions(_ header: String) throws {
    let outcome = try read(header + "E: 1330050188.628846 0001 001e 1\n")
    #expect(outcome.error == nil)
    #expect(outcome.warnings == [])
    #expect(try outcome.events == [event(1_330_050_188_628_846, 30, .press)])
  }

  @Test(
    "lines of real evemu recordings are accepted",
    arguments: [
      "E: 3.000000 0001 001e 1",
      "E: 3.000000 0001 001e 0001 # with spaces",
      "E: 3.000000\t0001\t001E\t0001\tanything", "E: 3.000000 1 1e 1",
    ])
  func quirks(_ line: String) throws {
    for end in ["\n", "\r\n"] {
      let outcome = try read("# EVEMU 1.3\n" + line + end)
      #expect(outcome.error == nil)
      #expect(try outcome.events == [event(3_000_000, 30, .press)])
    }
  }

  @Test("events between SYN_DROPPED and the next report are skipped")
  func dropped() throws {
    let outcome = try read(
      """
      E: 1.000000 0001 001e 0001
      E: 1.000000 0000 0000 0000
      E: 2.000000 0000 0003 0000
      E: 2.000000 0001 001e 0000
      E: 2.000000 0001 0030 0001
      E: 2.000000 0000 0000 0000
      E: 3.000000 0001 002e 0001
      E: 3.000000 0000 0000 0000

      """)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(1_000_000, 30, .press), event(3_000_000, 46, .press)])
  }

  @Test(
    "a bad evemu line is reported with its number, after the events before it",
    arguments: [
      ("E: 1.000000 0001 01zz 0001", #"event code "01zz" is not hexadecimal of up to four digits"#),
      ("E: 1.000000 0x01 001e 0001", #"event type "0x01" is not hexadecimal of up to four digits"#),
      (
        "E: 1.000000 0001 0001e 0001",
        #"event code "0001e" is not hexadecimal of up to four digits"#
      ),
      ("E: 1.5 0001 001e 0001", #"event time "1.5" does not have six digits after the point"#),
      ("E: 1 0001 001e 0001", #"event time "1" is not SECONDS.MICROSECONDS"#),
      ("E: -1.000000 0001 001e 0001", #"event time "-1.000000" is not SECONDS.MICROSECONDS"#),
      (
        "E: 99999999999999.000000 0001 001e 0001",
        "event time 99999999999999 s is too large"
      ),
      ("E: 1.000000 0001 001e 0003", "key value 3 is not 0, 1 or 2"),
      ("E: 1.000000 0001 001e -1", "key value -1 is not 0, 1 or 2"),
      ("E: 1.000000 0001 001e one", #"event value "one" is not a decimal number"#),
      (
        "E: 1.000000 0001 001e 99999999999",
        #"event value "99999999999" is not a decimal number"#
      ),
      ("E: 1.000000 0001 001e 0001,1", #"event value "0001" is not a decimal number"#),
      ("E: 1.000000 0001 0300 0001", "key code 768 is above 767"),
      ("E: 1.000000 0001 001e", "an event without a value"),
      ("E: 1.000000 0001", "an event without a code"),
      ("E: 1.000000", "an event without a type"),
      ("E: ", "an event without a time"),
      ("E: \u{7f}\u{e9} 1", #"event time "???" is not SECONDS.MICROSECONDS"#),
      ("X: 1.000000 0001 001e 0001", "neither an evemu event nor a header line"),
      ("A: 1.000000 0001 001e 0001", "neither an evemu event nor a header line"),
    ])
  func badLine(_ line: String, _ message: String) throws {
    let outcome = try read("# EVEMU 1.3\nE: 0.000001 0001 001e 0001\n\(line)\nE: broken too\n")
    #expect(outcome.error == "FILE:3: \(message)")
    #expect(try outcome.events == [event(1, 30, .press)])
  }

  @Test(
    "a recording that was cut off is reported, after its complete events",
    arguments: [
      "E", "E: 2.0", "E: 2.000000 00", "E: 2.000000 0001 001e", "E: 2.000000 0001 001e 0",
      "E: 2.000000 0001 001e 000", "E: 2.000000 0001 001e 0000",
    ])
  func cutOff(_ tail: String) throws {
    let outcome = try read("# EVEMU 1.3\nE: 1.000000 0001 001e 0001\n" + tail)
    #expect(outcome.error == "FILE:3: the recording is cut off here")
    #expect(try outcome.events == [event(1_000_000, 30, .press)])
  }

  @Test(
    "other files are refused",
    arguments: [
      ("", "not a recording"), ("\n\n", "not a recording"),
      ("# only a comment\n", "not a recording"),
      ("hello\n", "neither an evemu event nor a header line"),
    ])
  func otherFiles(_ text: String, _ message: String) throws {
    #expect(try read(text).error == "FILE: \(unknownFormat)")
    #expect(try read(text, format: .evemu).error?.hasSuffix(": \(message)") == true)
  }

  @Test("an evemu recording may have no events")
  func withoutEvents() throws {
    let outcome = try read("# EVEMU 1.3\nN: x\nI: 0003 046d c31c 0110\n")
    #expect(outcome.error == nil)
    #expect(outcome.events == [])
  }

  @Test("a directory and an endless line are refused")
  func noFiles() throws {
    #expect(throws: RecordingError("Is a directory", file: "/")) {
      var recording = try Recording(opening: ["/"])
      _ = try recording.next()
    }
    for (format, error) in [
      (nil, RecordingError(unknownFormat, file: "/dev/zero")),
      (.evtest, RecordingError("not a line of text", file: "/dev/zero", line: 1)),
      (.raw64, RecordingError("record 1: the record is all zeros", file: "/dev/zero")),
    ] as [(RecordingFormat?, RecordingError)] {
      #expect(throws: error) {
        var recording = try Recording(opening: ["/dev/zero"], format: format)
        _ = try recording.next()
      }
    }
    #expect(throws: RecordingError("No such file or directory", file: "/nowhere")) {
      _ = try Recording(opening: ["/nowhere"])
    }
  }

  @Test("lines may cross the borders of the read buffer")
  func long() throws {
    var text = "# EVEMU 1.3\n"
    var expected: [KeyEvent] = []
    for number in 1...20_000 {
      let padding = String(repeating: " ", count: number % 17)
      let microseconds = Int64(number) * 1001
      let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
      text += "E: \(microseconds / 1_000_000).\(fraction) 0001 001e 000\(number % 3)\(padding)\n"
      expected.append(try event(microseconds, 30, #require(.init(rawValue: Int32(number % 3)))))
    }
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(outcome.events == expected)
  }
}
